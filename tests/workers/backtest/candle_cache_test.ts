import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import type { CandlesRead } from "../../../market/archive/read.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { CandleCache } from "../../../workers/backtest/candle_cache.ts";
import { archiveTenDays, databaseSteps } from "../../support/backtests.ts";

databaseSteps("the candle cache", async ({ db }, step) => {
  await archiveTenDays(db);
  const cache = new CandleCache(db);
  const instrument = (await cache.findInstrument({ symbol: "TEN", exchange: "TEST" }))!;
  const [start, end] = [Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 11)];
  const read = (from: CandleCache, first = start): Promise<CandlesRead> =>
    from.read({ instrument, timeframe: "1d", start: first, end });

  await step("reads once what is asked for again, at the same time or later, into shared memory", async () => {
    const [one, other] = await Promise.all([read(cache), read(cache)]);
    expect(other).toBe(one);
    expect(await read(cache)).toBe(one);
    expect(one.candles.time.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(one.candles.time.length).toBe(10);
  });

  await step("another range is another read", async () => {
    expect((await read(cache, Date.UTC(2024, 0, 2))).candles.time.length).toBe(9);
  });

  await step("candles that were replaced are read anew", async () => {
    const before = await read(cache);
    const day = (value: number) => Float64Array.of(value);
    const revised = { time: day(start), open: day(9), high: day(11), low: day(8), close: day(10), volume: day(1) };
    await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe: "1d" }, revised));
    const after = await read(cache);
    expect(after.candles.open[0]).toBe(9);
    expect(after.sha256).not.toBe(before.sha256);
  });

  await step("what is used least gives way when there is no more room", async () => {
    // Six columns of ten days take 480 bytes, of nine days 432: there is room for one of the two.
    const small = new CandleCache(db, 500);
    const ten = await read(small);
    expect(await read(small)).toBe(ten);
    await read(small, Date.UTC(2024, 0, 2));
    expect(await read(small)).not.toBe(ten);
  });
});
