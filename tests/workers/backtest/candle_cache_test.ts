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

  await step("another range is a view of the same memory", async () => {
    const whole = await read(cache);
    const nine = await read(cache, Date.UTC(2024, 0, 2));
    expect(nine.candles.time.length).toBe(9);
    expect(nine.candles.time.buffer).toBe(whole.candles.time.buffer);
  });

  await step("other ranges at the same time share one read", async () => {
    const fresh = new CandleCache(db);
    const days = Array.from({ length: 9 }, (_, day) => Date.UTC(2024, 0, 1 + day));
    const reads = await Promise.all(days.map((day) => read(fresh, day)));
    expect(new Set(reads.map(({ candles }) => candles.time.buffer)).size).toBe(1);
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

  await step("a full cache drops the instrument that was used least recently", async () => {
    // Six columns of ten days take 480 bytes: the cache holds one of the two.
    await archiveTenDays(db, "OTHER");
    const small = new CandleCache(db, 500);
    const ten = await read(small);
    expect(await read(small)).toBe(ten);
    const other = await small.findInstrument({ symbol: "OTHER", exchange: "TEST" });
    await small.read({ instrument: other!, timeframe: "1d", start, end });
    expect((await read(small)).candles.time.buffer).not.toBe(ten.candles.time.buffer);
    expect(small.bytes).toBeLessThanOrEqual(500);
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

Deno.test("a call during another's query gets an answer that is no older than itself", async () => {
  const inFlight = new InFlight<number>();
  const answers = [Promise.withResolvers<number>(), Promise.withResolvers<number>()];
  const sent = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let count = 0;
  const make = () => {
    sent[count]!.resolve();
    return answers[count++]!.promise;
  };
  const first = inFlight.get("a", make);
  await sent[0]!.promise;
  const later = [inFlight.get("a", make), inFlight.get("a", make)];
  answers[0]!.resolve(1);
  expect(await first).toBe(1);
  await sent[1]!.promise;
  answers[1]!.resolve(2);
  expect(await Promise.all(later)).toEqual([2, 2]);
});
