import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import type { CandlesRead } from "../../../market/archive/read.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { CandleCache, InFlight } from "../../../workers/backtest/candle_cache.ts";
import { archiveTenDays } from "../../support/backtests.ts";
import { databaseSteps } from "../../support/database.ts";

databaseSteps("the candle cache", async ({ db }, step) => {
  await archiveTenDays(db);
  const cache = new CandleCache(db);
  const instrument = (await cache.findInstrument({ symbol: "TEN", exchange: "TEST" }))!;
  const [start, end] = [Date.UTC(2024, 0, 1), Date.UTC(2024, 0, 11)];
  const read = (from: CandleCache, first = start): Promise<CandlesRead> =>
    from.read({ instrument, timeframe: "1d", start: first, end });

  await step("equal reads, at the same time or later, are one read into shared memory", async () => {
    const [one, other] = await Promise.all([read(cache), read(cache)]);
    expect(other).toBe(one);
    expect(await read(cache)).toBe(one);
    expect(one.candles.time.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(one.candles.time.length).toBe(10);
  });

  await step("another range is another read", async () => {
    expect((await read(cache, Date.UTC(2024, 0, 2))).candles.time.length).toBe(9);
  });

  await step("candles that were replaced are read again", async () => {
    const before = await read(cache);
    const day = (value: number) => Float64Array.of(value);
    const revised = { time: day(start), open: day(9), high: day(11), low: day(8), close: day(10), volume: day(1) };
    await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe: "1d" }, revised));
    const after = await read(cache);
    expect(after.candles.open[0]).toBe(9);
    expect(after.sha256).not.toBe(before.sha256);
  });

  await step("a full cache drops the read that was used least recently", async () => {
    // Six columns of ten days take 480 bytes, of nine days 432: the cache holds one of the two.
    const small = new CandleCache(db, 500);
    const ten = await read(small);
    expect(await read(small)).toBe(ten);
    await read(small, Date.UTC(2024, 0, 2));
    expect(await read(small)).not.toBe(ten);
  });
});

Deno.test("simultaneous calls share an answer, and a later call gets a new one", async () => {
  const inFlight = new InFlight<number>();
  let made = 0;
  const make = () => Promise.resolve(++made);
  expect(await Promise.all([inFlight.get("a", make), inFlight.get("a", make), inFlight.get("b", make)])).toEqual([
    1,
    1,
    2,
  ]);
  expect(await inFlight.get("a", make)).toBe(3);
  await expect(inFlight.get("c", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await inFlight.get("c", make)).toBe(4);
});
