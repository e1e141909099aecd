import { expect } from "@std/expect";
import { listTrades } from "../../db/row_pages.ts";
import { addCompleted, addUser, tradeColumns } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("trades", async ({ db }, step) => {
  await addUser(db, "ann");
  const record = async (count: number) => {
    const id = await addCompleted(db, { trades: tradeColumns(count) });
    return (after: number, limit: number, ownerId = "ann") => listTrades(db, { backtestId: id, ownerId, after, limit });
  };

  await step("come back as they were, times to the millisecond, the open one last and without an exit", async () => {
    const list = await record(2);
    const rows = await list(0, 10);
    expect(rows[0]).toMatchObject({
      number: 1,
      side: "long",
      quantity: 1,
      entryTime: new Date("2024-01-01T00:00:00.000Z"),
      entryPrice: 100,
      exitTime: new Date("2024-01-01T00:00:00.001Z"),
      exitPrice: 101,
      fees: 1e-9,
      pnl: 1,
      return: 0.01,
      candles: 0,
      mae: -0.01,
      mfe: 0.02,
      exitReason: "signal",
      ambiguous: false,
      entryOrder: 1,
      exitOrder: 2,
      tag: null,
      exitTag: "out",
    });
    expect(rows[1]).toMatchObject({ number: 2, side: "short", return: 1 / 101, ambiguous: true });
    expect(rows[1]).toMatchObject({ exitTime: null, exitPrice: null, exitReason: null });
    expect(rows[1]).toMatchObject({ entryOrder: 3, exitOrder: null, exitTag: null });
    expect(rows[1]?.tag).toBe('a "tag", {with} all\\sorts; NULL');
  });

  await step("are listed oldest first, in pages, to their owner alone", async () => {
    const list = await record(5);
    expect((await list(0, 2)).map(({ number }) => number)).toEqual([1, 2]);
    expect((await list(2, 10)).map(({ number }) => number)).toEqual([3, 4, 5]);
    expect(await list(0, 10, "bob")).toEqual([]);
  });

  await step("none are none, and many are all there across the chunks that hold them", async () => {
    expect(await (await record(0))(0, 10)).toEqual([]);
    const list = await record(20_003);
    const rows = await list(19_998, 10);
    expect(rows.map(({ number, exitOrder, exitReason, tag }) => [number, exitOrder, exitReason, tag])).toEqual([
      // 19,998 % 8 is 6, the last reason but one; the last trade is open and tagged.
      [19_999, 39_998, "end_of_data", null],
      [20_000, 40_000, "delisted", null],
      [20_001, 40_002, "signal", null],
      [20_002, 40_004, "stop_loss", null],
      [20_003, null, null, 'a "tag", {with} all\\sorts; NULL'],
    ]);
    expect((await list(0, 30_000)).map(({ number }) => number)).toEqual(
      Array.from({ length: 20_003 }, (_, i) => i + 1),
    );
  });
});
