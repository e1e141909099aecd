/** The lines by which a built-in strategy decided, over REST and for the console's chart, and the words for its trades. */
import { expect } from "@std/expect";
import { DATABASES } from "../support/database.ts";
import { startTestService } from "../support/service.ts";
import { importTen, REQUEST } from "../support/ten_candles.ts";

for (const kind of DATABASES) {
  Deno.test(`a run of a built-in strategy has the lines that it decided by (${kind})`, async (t) => {
    const service = await startTestService(kind);
    await importTen(service);
    const trader = await service.user();
    const submitted = await trader.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, start_date: "2023-01-05" },
    });
    const done = await trader.finish(submitted.at("/backtest/id"));
    const id = String(done.at("/backtest/id"));
    const path = `/api/backtests/${id}/series`;

    await t.step("each candle's values, with the candles before the range", async () => {
      const answer = await trader.get(path);
      expect(answer.at("/plots")).toEqual([{ name: "SMA 2", pane: "price" }, { name: "SMA 3", pane: "price" }]);
      // Closes from 2 January: 10 10 9 | 8 12 15 16 11 8 7, the range begins at the line.
      const means = [[8.5, 9], [10, 29 / 3], [13.5, 35 / 3], [15.5, 43 / 3], [13.5, 14], [9.5, 35 / 3], [7.5, 26 / 3]];
      expect(answer.list("/series").map((row) => Object(row).values)).toEqual(
        means.map((row) => row.map((value) => expect.closeTo(value, 9))),
      );
    });

    await t.step("as CSV, from a moment on, in pages", async () => {
      const csv = (await trader.get(`${path}?format=csv&from=2023-01-12`)).text.trimEnd().split("\n");
      expect(csv.slice(0, 2)).toEqual([
        "timestamp,SMA 2,SMA 3",
        expect.stringMatching(/^2023-01-12T00:00:00.000Z,9\.5,11\.6/),
      ]);
      expect(csv.length).toBe(3);
      const page = await trader.get(`${path}?limit=2`);
      const next = await trader.get(`${path}?limit=2&cursor=${page.at("/next_cursor")}`);
      expect(next.list("/series").map((row) => Object(row).timestamp)).toEqual([
        "2023-01-09T00:00:00.000Z",
        "2023-01-10T00:00:00.000Z",
      ]);
    });

    const ask = async (procedure: string, input: object) =>
      (await trader.get(`/trpc/backtests.${procedure}?input=${encodeURIComponent(JSON.stringify({ id, ...input }))}`))
        .at("/result/data");

    await t.step("merged for a part of the chart, in its buckets", async () => {
      // Buckets of two candles from the third one on: 9 and 10 January, 11 and 12.
      expect(await ask("series", { from: 2, until: 6, points: 2 })).toMatchObject({
        ...{ candles: 7, from: 2, until: 6, step: 2 },
        time: [Date.UTC(2023, 0, 9), Date.UTC(2023, 0, 11)],
        values: [[15.5, 9.5], [expect.closeTo(43 / 3, 9), expect.closeTo(35 / 3, 9)]],
      });
    });

    await t.step("its trades come with the strategy's words", async () => {
      expect(await ask("tradeTable", {})).toMatchObject({
        is_long: [true],
        exit_reason: ["signal"],
        reasons: {
          long: "the fast average crossed above the slow one",
          exit_long: "the fast average crossed below the slow one",
        },
      });
    });

    await t.step("another user sees none of it", async () => {
      expect((await (await service.user()).get(path)).status).toBe(404);
    });
    await service.close();
  });

  Deno.test(`a run over many markets draws the lines of one of them (${kind})`, async () => {
    const service = await startTestService(kind);
    await importTen(service);
    const trader = await service.user();
    const parameters = { ...REQUEST.parameters, instruments: [{ symbol: "TEN", exchange: "TEST" }] };
    const submitted = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, parameters } });
    const done = await trader.finish(submitted.at("/backtest/id"));
    const id = String(done.at("/backtest/id"));
    const draw = (input: object) =>
      trader.get(`/trpc/backtests.series?input=${encodeURIComponent(JSON.stringify({ id, ...input }))}`);
    expect((await draw({})).at("/result/data/plots")).toEqual([]);
    const drawn = await draw({ market: "TEN@TEST" });
    expect(drawn.at("/result/data/values/0")).toEqual([null, 10, 9.5, 8.5, 10, 13.5, 15.5, 13.5, 9.5, 7.5]);
    const other = await draw({ market: "TEM@TEST" });
    expect([other.status, other.text]).toEqual([400, expect.stringContaining("TEN@TEST")]);
    await service.close();
  });
  Deno.test(`a built-in strategy that decides over many markets stores what it decided by (${kind})`, async () => {
    const service = await startTestService(kind);
    await importTen(service);
    const trader = await service.user();
    const parameters = { timeframe: "1d", every: "day", instruments: [{ symbol: "TEN", exchange: "TEST" }] };
    const submitted = await trader.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "equal-weight", parameters },
    });
    const done = await trader.finish(submitted.at("/backtest/id"));
    const answer = await trader.get(`/api/backtests/${done.at("/backtest/id")}/series`);
    expect(answer.at("/plots")).toEqual(
      ["target", "most held", "least held"].map((name) => ({ name, pane: "weight" })),
    );
    // All is held from the second candle on.
    const values = answer.list("/series").map((row) => Object(row).values);
    expect(values.length).toBe(10);
    expect(values[0]).toEqual([1, 0, 0]);
    for (const row of values.slice(1)) expect(row).toEqual([1, expect.closeTo(1, 2), expect.closeTo(1, 2)]);
    await service.close();
  });
}
