import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { insertBacktest } from "../../../db/backtests.ts";
import { listEvents } from "../../../db/ingestion.ts";
import { ensureInstrument, findInstrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import { importCsv } from "../../../market/csv/import.ts";
import { FeedError } from "../../../market/feeds/feed.ts";
import { ReadThrough } from "../../../market/on_demand/read_through.ts";
import { readBacktestCandles, readFinerCandles } from "../../../workers/backtest/run_candles.ts";
import { CandleCache } from "../../../workers/backtest/candle_cache.ts";
import { dailyFeed, type Script } from "../../market/ingestion/daily_feed.ts";
import { addUser, newBacktest } from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";

const day = (date: string) => Date.parse(`${date}T00:00:00Z`);

databaseTest("a run fetches damaged chunks of its candles and of the finer ones again", async ({ db }) => {
  await addUser(db, "ann");
  const row = { symbol: "HURT", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const instrument = await ensureInstrument(db, row);
  const script: Script = { asked: [], price: 5 };
  const readThrough = new ReadThrough(db, () => dailyFeed(script));
  const range = { start: day("2024-01-20"), end: day("2024-03-10") };
  for (const timeframe of ["1d", "1h"] as const) await readThrough.complete(instrument, { timeframe, ...range });
  const dates = { startDate: "2024-01-20", endDate: "2024-03-10" };
  const record = await insertBacktest(db, newBacktest("ann", { symbol: "HURT", exchange: "TEST", ...dates }));
  // Each read stands for a new process with empty caches.
  const services = () => ({ db, candles: new CandleCache(db), readThrough, candlesMax: Infinity });
  const wanted = { instrument, timeframe: "1d", hours: "regular", lookback: 0 } as const;
  const read = async () => (await readBacktestCandles(services(), record, wanted)).sha256;
  const readFiner = async () => await readFinerCandles(services(), record, wanted);
  const [whole, finer] = [await read(), await readFiner()];

  await damageAll(db, instrument.id);
  expect(await read()).toBe(whole);
  expect((await readFiner())?.sha256).toBe(finer?.sha256);
  // Three months of days and three of hours.
  expect(await listEvents(db, { type: "failed", limit: 10 })).toHaveLength(6);

  // The run works without finer candles that the feed does not give again.
  await damageAll(db, instrument.id);
  script.refusal = { before: day("2024-02-01"), error: new FeedError("failed", "Cannot reach the feed") };
  expect((await readFiner())?.candles.time[0]).toBe(day("2024-02-01"));
  await expect(read()).rejects.toMatchObject({ code: "PROVIDER_FAILED", message: "Cannot reach the feed" });
  await readThrough.close();
});

databaseTest(
  "a run on damaged imported candles fails, names them, and asks for a new import",
  async ({ db }) => {
    await addUser(db, "ann");
    const key = { symbol: "MINE", exchange: "FILE" };
    const file = async (timeframe: "1d" | "1h", times: readonly string[]) => {
      const lines = times.map((time) => `${time},1,1,1,1,1\n`);
      const body = new Blob(["time,open,high,low,close,volume\n", ...lines]).stream();
      return await importCsv(db, { ...key, assetClass: "crypto", timeframe, body, bytesMax: 1e6 });
    };
    const days = ["2024-01-31", "2024-02-01", "2024-02-02"];
    await file("1d", days);
    const instrument = (await findInstrument(db, key))!;
    const dates = { startDate: "2024-01-31", endDate: "2024-02-03" };
    const record = await insertBacktest(db, newBacktest("ann", { ...key, ...dates }));
    const readThrough = new ReadThrough(db, () => undefined);
    const services = () => ({ db, candles: new CandleCache(db), readThrough, candlesMax: Infinity });
    const wanted = { instrument, timeframe: "1d", hours: "regular", lookback: 0 } as const;
    const read = () => readBacktestCandles(services(), record, wanted);
    const { sha256 } = await read();

    await damageAll(db, instrument.id);
    const message = "Cannot read the 1d candles of MINE on FILE from 2024-01-01 to 2024-02-01: " +
      "they are damaged; import them again";
    for (let run = 0; run < 3; run++) await expect(read()).rejects.toMatchObject({ code: "NO_DATA", message });
    // Repeated runs log the damage once.
    const failed = await listEvents(db, { type: "failed", limit: 10 });
    expect(failed).toMatchObject([{ symbol: "MINE", exchange: "FILE", start: new Date("2024-01-01"), candles: 1 }]);
    await file("1d", days);
    expect((await read()).sha256).toBe(sha256);
    // After a new import, new damage is logged again.
    const known = await listEvents(db, { type: "failed", limit: 10 });
    await damageAll(db, instrument.id);
    await expect(read()).rejects.toMatchObject({ code: "NO_DATA", message });
    expect(await listEvents(db, { type: "failed", limit: 10 })).toHaveLength(known.length + 1);
    await file("1d", days);

    // Damaged finer candles fail the run too.
    await file("1h", ["2024-02-01T00:00Z"]);
    await damageAll(db, instrument.id);
    await expect(readFinerCandles(services(), record, wanted)).rejects.toMatchObject({
      code: "NO_DATA",
      message: expect.stringContaining("Cannot read the 1h candles of MINE on FILE from 2024-02-01 to 2024-03-01"),
    });
  },
);

async function damageAll(db: Db, instrumentId: string): Promise<void> {
  for (const { timeframe, month, data } of await db.select().from(candleChunks)) {
    const damaged = Uint8Array.from(data);
    damaged[damaged.length >> 1]! ^= 1;
    await db.update(candleChunks).set({ data: damaged }).where(
      sql`${candleChunks.instrumentId} = ${instrumentId} and timeframe = ${timeframe} and month = ${month}`,
    );
  }
}
