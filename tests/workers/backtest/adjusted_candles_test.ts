import { expect } from "@std/expect";
import { UTC_DAYS } from "../../../market/calendar/exchange_sessions.ts";
import type { Backtest } from "../../../db/backtests.ts";
import { clearCoverage } from "../../../db/coverage.ts";
import { type ExecutionRequest, resolveExecution } from "../../../engine/execution.ts";
import { ensureInstrument } from "../../../db/instruments.ts";
import { FeedError } from "../../../market/feeds/feed.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { readFinerCandles } from "../../../workers/backtest/run_candles.ts";
import { CandleCache } from "../../../workers/backtest/candle_cache.ts";
import { openQueue } from "../../../workers/queue.ts";
import { dailyFeed, type Script } from "../../market/ingestion/daily_feed.ts";
import { addUser, newBacktest, submitBacktest, untilEnded } from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";

const day = (date: string) => Date.parse(`${date}T00:00:00Z`);

databaseTest(
  "a run after a split reads no candle from before it, neither as lookback nor to replay",
  async (handle) => {
    const { db } = handle;
    await addUser(db, "ann");
    const row = {
      symbol: "SPLIT",
      exchange: "TEST",
      assetClass: "stock",
      provider: "provider_a",
      session: UTC_DAYS,
    } as const;
    const instrument = await ensureInstrument(db, row);
    const script: Script = { asked: [], price: 100 };
    const feeds = () => dailyFeed(script);
    const before = new ReadThrough(db, feeds);
    await before.complete(instrument, { timeframe: "1d", start: day("2024-03-05"), end: day("2024-04-01") });
    await before.complete(instrument, { timeframe: "30m", start: day("2024-03-25"), end: day("2024-03-30") });
    script.price = 50;
    script.asked.length = 0;

    const readThrough = new ReadThrough(db, feeds);
    const queue = await openQueue({ handle, runSecondsMax: 60, readThrough });
    const run = async (execution: ExecutionRequest): Promise<Backtest> => {
      const range = { startDate: "2024-03-28", endDate: "2024-04-03" };
      const parameters = { timeframe: "1d", fast: 2, slow: 4, execution: resolveExecution(execution, null) };
      const backtest = newBacktest("ann", { symbol: "SPLIT", exchange: "TEST", ...range, parameters });
      return await untilEnded(db, await submitBacktest(db, queue, backtest));
    };
    try {
      await queue.work(1);
      expect(await run({ bothTouched: "magnify" })).toMatchObject({ status: "completed", error: null });
      expect(script.asked).toEqual([
        // The oldest candle shows the split; then come the range, the candles before it, and the finer candles in it.
        "2024-03-05..2024-03-06",
        "2024-03-28..2024-04-03",
        "2024-03-06..2024-03-28",
        "2024-03-28..2024-03-29",
      ]);
      // If the feed does not give the earlier candles, the run works without them.
      await clearCoverage(db, instrument.id);
      script.refusal = { before: day("2024-03-28"), error: new FeedError("failed", "Cannot reach the feed") };
      expect(await run({})).toMatchObject({ status: "completed", error: null });
      script.refusal = { before: Infinity, error: script.refusal.error };
      // If the feed does not give the finer candles, the run works too: those from before the split do not reach as far and are ignored.
      const replayed = await run({ bothTouched: "magnify" });
      expect(replayed).toMatchObject({ status: "completed", error: null });
      // Minutes of another range do not hide the hours of this one.
      script.refusal = undefined;
      await before.complete(instrument, { timeframe: "1m", start: day("2024-01-01"), end: day("2024-01-02") });
      const services = { db, candles: new CandleCache(db), readThrough, candlesMax: Infinity };
      const finer = await readFinerCandles(services, replayed, { instrument, timeframe: "1d", hours: "regular" });
      expect([finer?.source, finer?.candles.time.length]).toEqual(["30m", 2]);
    } finally {
      await queue.close();
      await readThrough.close();
    }
  },
);
