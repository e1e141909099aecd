import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { backtestRecords, insertBacktest } from "../../db/backtests.ts";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { encodeColumns } from "../../db/codec/columns.ts";
import { readEquity } from "../../db/equity.ts";
import { moveResults } from "../../db/move_results.ts";
import { listOrders } from "../../db/orders.ts";
import { backtests } from "../../db/schema.ts";
import { listTrades } from "../../db/trades.ts";
import { addUser, newBacktest, orderColumns } from "../support/backtests.ts";
import { eachDatabaseTest } from "../support/database.ts";

// The tables of before, as their migration made them.
const START = await Deno.readTextFile(new URL("../../db/migrations/0000_start.sql", import.meta.url));
const TABLES = ["backtest_trades", "backtest_orders", "backtest_equity"];

eachDatabaseTest("a database that keeps a row for each trade is moved into chunks as it is opened", async ({ db }) => {
  await addUser(db, "ann");
  for (const table of TABLES) {
    const statement = START.split("--> statement-breakpoint").find((text) => text.includes(`CREATE TABLE "${table}"`));
    await db.execute(sql.raw(statement ?? ""));
  }
  const { id, sizeBytes } = await insertBacktest(db, newBacktest("ann"));
  await db.update(backtests).set({ status: "completed", attempts: 2 });
  await db.execute(sql`
    insert into backtest_trades
    select ${id}, n, case when n % 2 = 1 then 'long' else 'short' end, n, timestamptz '2024-01-01 00:00:00.001Z', 100.1,
      case when n < 10002 then timestamptz '2024-01-02 00:00:00.007Z' end, case when n < 10002 then 98.01 end,
      0.5, -1, 0.25, 3, -0.1, 0.2, case when n < 10002 then 'stop_loss' end, n = 1, case when n = 2 then 'a "tag"' end
    from generate_series(1, 10002) as n`);
  const { count: _count, tag, ...orders } = orderColumns(3);
  const columns = Object.entries(orders).map(([name, values]) => [name, Float64Array.from(values)]);
  const data = encodeColumns(Object.fromEntries(columns));
  await db.execute(sql`insert into backtest_orders values (${id}, 0, ${data}, ${JSON.stringify(tag)}::jsonb)`);
  const time = Float64Array.from({ length: 10_001 }, (_, i) => i * 60_000);
  const curve = { time, equity: time.map((ms) => ms / 7), position: time };
  const equity = encodeColumns(curve);
  await db.execute(sql`insert into backtest_equity values (${id}, 10001, ${equity})`);

  await moveResults(db);

  const page = { backtestId: id, ownerId: "ann", after: 0, limit: 20_000 };
  const trades = await listTrades(db, page);
  expect(trades).toHaveLength(10_002);
  expect(trades[0]).toEqual({
    number: 1,
    side: "long",
    quantity: 1,
    entryTime: new Date("2024-01-01T00:00:00.001Z"),
    entryPrice: 100.1,
    exitTime: new Date("2024-01-02T00:00:00.007Z"),
    exitPrice: 98.01,
    fees: 0.5,
    pnl: -1,
    return: 0.25,
    candles: 3,
    mae: -0.1,
    mfe: 0.2,
    exitReason: "stop_loss",
    ambiguous: true,
    entryOrder: null,
    exitOrder: null,
    tag: null,
    exitTag: null,
    market: null,
  });
  expect(trades[1]).toMatchObject({ number: 2, side: "short", ambiguous: false, tag: 'a "tag"' });
  expect(trades.at(-1)).toMatchObject({ number: 10_002, exitTime: null, exitPrice: null, exitReason: null });
  expect((await listOrders(db, page)).map((order) => [order.number, order.price, order.tag]))
    .toEqual([[1, 100, null], [2, 101, "second"], [3, null, null]]);
  expect(await readEquity(db, page)).toEqual(curve);
  const moved = await backtestRecords.get(db, { id, ownerId: "ann" });
  // The record counted no result: what is left is the difference to the estimate of before.
  expect(moved?.sizeBytes).toBeLessThan(sizeBytes - 10_002 * 100);
  expect(await measureBacktests(db, "ann")).toBe(moved?.sizeBytes);
  // The next start finds nothing to move.
  await moveResults(db);
});
