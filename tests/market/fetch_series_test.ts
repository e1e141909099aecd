import { expect } from "@std/expect";
import { listCoverage } from "../../db/coverage.ts";
import { insertRun } from "../../db/ingestion.ts";
import { allocateCandles } from "../../market/candle_columns.ts";
import type { Feed, FeedPart } from "../../market/feeds.ts";
import { fetchSeries, IMPATIENT } from "../../market/fetch_series.ts";
import { databaseTest } from "../support/database.ts";

const DAY = 86_400_000;
const at = (iso: string) => Date.parse(iso);

/** A candle a day of price 1 up to a day, as a feed that needs an hour after a close to be sure of it. */
function feedUntil(last: number): Feed {
  return {
    name: "the test's feed",
    exchange: "TEST",
    settleMs: 3_600_000,
    sourceTimeframe: (timeframe) => timeframe,
    async *fetch({ start, end }): AsyncGenerator<FeedPart> {
      const days = Math.max(0, (Math.min(end, last + DAY) - start) / DAY);
      const { time, ...values } = allocateCandles(days);
      for (let i = 0; i < days; i++) time[i] = start + i * DAY;
      for (const column of Object.values(values)) column.fill(1);
      yield await Promise.resolve({ start, end, candles: { time, ...values } });
    },
  };
}

databaseTest("a candle that may still come is not taken for one that never was", async ({ db }) => {
  const feed = feedUntil(at("2024-03-30"));
  const { id: runId } = await insertRun(db, { status: "running", trigger: "manual" });
  const target = { symbol: "LATE", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const work = { runId, timeframe: "1d", feed, patience: IMPATIENT } as const;
  // Half an hour after the close of 31 March that day is not there yet.
  const range = { start: at("2024-03-25"), end: at("2024-04-01") };
  const now = at("2024-04-01T00:30Z");
  const { instrument } = await fetchSeries(db, { ...work, target, now }, [range]);
  if (instrument === undefined) throw new Error("Cannot find the instrument");
  const series = { instrumentId: instrument.id, timeframe: "1d" };
  expect(await listCoverage(db, series)).toEqual([{ start: new Date(range.start), end: new Date("2024-03-31") }]);
  // An hour and a half after it, it would be.
  const rest = [{ start: at("2024-03-31"), end: at("2024-04-01") }];
  await fetchSeries(db, { ...work, target: instrument, now: now + 3_600_000 }, rest);
  expect(await listCoverage(db, series)).toEqual([{ start: new Date(range.start), end: new Date(range.end) }]);
});
