import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import { insertBacktest } from "../../db/backtests.ts";
import { listEvents } from "../../db/ingestion.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { candleChunks } from "../../db/schema.ts";
import { FeedError } from "../../market/feeds.ts";
import { ReadThrough } from "../../market/read_through.ts";
import { readBacktestCandles, readFinerCandles } from "../../workers/backtest_candles.ts";
import { CandleCache } from "../../workers/candle_cache.ts";
import { dailyFeed, type Script } from "../market/daily_feed.ts";
import { addUser, newBacktest } from "../support/backtests.ts";
import { databaseTest } from "../support/database.ts";

const day = (date: string) => Date.parse(`${date}T00:00:00Z`);

databaseTest("a run gets its candles and the finer ones though several chunks of both are damaged", async ({ db }) => {
  await addUser(db, "ann");
  const row = { symbol: "HURT", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const instrument = await ensureInstrument(db, row);
  const script: Script = { asked: [], price: 5 };
  const readThrough = new ReadThrough(db, () => dailyFeed(script));
  const range = { start: day("2024-01-20"), end: day("2024-03-10") };
  for (const timeframe of ["1d", "1h"] as const) await readThrough.complete(instrument, { timeframe, ...range });
  const dates = { startDate: "2024-01-20", endDate: "2024-03-10" };
  const record = await insertBacktest(db, newBacktest("ann", { symbol: "HURT", exchange: "TEST", ...dates }));
  // Each read is a new process's, which has nothing in memory.
  const services = () => ({ db, candles: new CandleCache(db), readThrough, candlesMax: Infinity });
  const wanted = { instrument, timeframe: "1d", lookback: 0 } as const;
  const read = async () => (await readBacktestCandles(services(), record, wanted)).sha256;
  const readFiner = async () => await readFinerCandles(services(), record, wanted);
  const [whole, finer] = [await read(), await readFiner()];

  await damageAll(db, instrument.id);
  expect(await read()).toBe(whole);
  expect((await readFiner())?.sha256).toBe(finer?.sha256);
  // Three months of days and three of hours.
  expect(await listEvents(db, { type: "failed", limit: 10 })).toHaveLength(6);

  // Finer candles that are not given again are missing, and the run does without.
  await damageAll(db, instrument.id);
  script.refusal = { before: day("2024-02-01"), error: new FeedError("failed", "Cannot reach the feed") };
  expect((await readFiner())?.candles.time[0]).toBe(day("2024-02-01"));
  await expect(read()).rejects.toMatchObject({ code: "NO_DATA", message: "Cannot reach the feed" });
  await readThrough.close();
});

async function damageAll(db: Db, instrumentId: string): Promise<void> {
  for (const { timeframe, month, data } of await db.select().from(candleChunks)) {
    const damaged = Uint8Array.from(data);
    damaged[damaged.length >> 1]! ^= 1;
    await db.update(candleChunks).set({ data: damaged }).where(
      sql`${candleChunks.instrumentId} = ${instrumentId} and timeframe = ${timeframe} and month = ${month}`,
    );
  }
}
