import { expect } from "@std/expect";
import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { type AssetClass, ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import { candleChunks } from "../../../db/schema.ts";
import type { Candles } from "../../../engine/candles.ts";
import { candleBatches } from "../../../market/archive/read.ts";
import { readCandles } from "../../support/candles.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { DamagedChunkError } from "../../../market/archive/chunk.ts";
import { planRead, planTag, TimeframeTooFineError } from "../../../market/archive/read_plan.ts";
import { shortestMs, type Timeframe } from "../../../market/timeframes.ts";
import { eachDatabaseTest } from "../../support/database.ts";

const at = (iso: string) => Date.parse(iso);
const iso = (times: Float64Array) => [...times].map((time) => new Date(time).toISOString().slice(0, 16));
/** Long after every candle here. */
const now = at("2030-01-01");

async function makeInstrument(db: Db, symbol: string, assetClass: AssetClass = "crypto"): Promise<Instrument> {
  return await ensureInstrument(db, { symbol, exchange: "TEST", assetClass, provider: "import" });
}

/** Candles whose open is 1, 2, 3 ..., high two above, low half below, close one above it, volume 10. */
function rising(times: readonly number[], first = 1): Candles {
  const open = Float64Array.from(times, (_, index) => first + index);
  return {
    time: Float64Array.from(times),
    open,
    high: open.map((price) => price + 2),
    low: open.map((price) => price - 0.5),
    close: open.map((price) => price + 1),
    volume: open.map(() => 10),
  };
}

function every(timeframe: Timeframe, from: string, count: number): number[] {
  return Array.from({ length: count }, (_, index) => at(from) + index * shortestMs(timeframe));
}

const store = (db: Db, instrument: Instrument, timeframe: Timeframe, candles: Candles) =>
  db.transaction((tx) => storeCandles(tx, { instrumentId: instrument.id, timeframe }, candles));

eachDatabaseTest(
  "the archive returns stored candles: whole, checked, resampled, without an unfinished one",
  async ({ db }) => {
    await storesByMonth(db);
    await countsWhatChanges(db);
    await resamples(db);
    await endsWithCompleteBuckets(db);
    await prefersTheFurthestSource(db);
    await looksBack(db);
    await countsGaps(db);
    await streams(db);
    await readsNoFurther(db);
    await refusesDamage(db);
  },
);

async function storesByMonth(db: Db) {
  const instrument = await makeInstrument(db, "MONTHS");
  // Two candles in February of a leap year, one in March.
  const candles = rising(every("1h", "2024-02-29T22:00Z", 3));
  expect(await store(db, instrument, "1h", candles)).toEqual({
    imported: 3,
    unchanged: 0,
    ...{ revised: 0, revisedOpens: null, damaged: [] },
  });
  const chunks = await db.select().from(candleChunks).where(eq(candleChunks.instrumentId, instrument.id));
  expect(chunks.map(({ month, candles }) => [month, candles])).toEqual([["2024-02-01", 2], ["2024-03-01", 1]]);
  const read = await readCandles(db, {
    instrument,
    timeframe: "1h",
    start: at("2024-02-01"),
    end: at("2025-01-01"),
    now,
  });
  expect(read.candles).toEqual(candles);
  expect(read).toMatchObject({ source: "1h", gaps: 0, lookback: 0 });

  const inside = {
    instrument,
    timeframe: "1h",
    start: at("2024-02-29T23:00Z"),
    end: at("2024-03-01T00:00Z"),
    now,
  } as const;
  // The range is half-open.
  expect(iso((await readCandles(db, inside)).candles.time)).toEqual(["2024-02-29T23:00"]);
  const shared = await readCandles(db, { ...inside, shared: true });
  expect(shared.candles.close.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(shared.candles.time.buffer).toBe(shared.candles.volume.buffer);
  expect(shared.sha256).toBe((await readCandles(db, inside)).sha256);

  const empty = await readCandles(db, { ...inside, start: at("2023-01-01"), end: at("2023-02-01") });
  expect(empty.candles.time.length).toBe(0);
}

async function countsWhatChanges(db: Db) {
  const instrument = await makeInstrument(db, "CHANGES");
  const query = { instrument, timeframe: "1d", start: at("2024-01-01"), end: at("2024-02-01"), now } as const;
  await store(db, instrument, "1d", rising([at("2024-01-02"), at("2024-01-04")]));
  const before = await planRead(db, query);
  const first = await readCandles(db, query);
  expect(await store(db, instrument, "1d", rising([at("2024-01-02"), at("2024-01-04")]))).toEqual({
    imported: 0,
    unchanged: 2,
    ...{ revised: 0, revisedOpens: null, damaged: [] },
  });
  expect(planTag(await planRead(db, query), "json")).toBe(planTag(before, "json"));
  expect(planTag(before, "csv")).not.toBe(planTag(before, "json"));

  // The 2nd is the same (1), the 3rd is new (2), the 4th was 2 and is 3, the 1st comes before all.
  const later = rising([at("2024-01-02"), at("2024-01-03"), at("2024-01-04")]);
  expect(await store(db, instrument, "1d", later)).toEqual({
    ...{ imported: 1, unchanged: 1, revised: 1, damaged: [] },
    revisedOpens: [at("2024-01-04"), at("2024-01-04")],
  });
  expect(await store(db, instrument, "1d", rising([at("2024-01-01")], 9))).toEqual({
    imported: 1,
    unchanged: 0,
    ...{ revised: 0, revisedOpens: null, damaged: [] },
  });
  const second = await readCandles(db, query);
  expect([...second.candles.open]).toEqual([9, 1, 2, 3]);
  expect(second.sha256).not.toBe(first.sha256);
  expect(planTag(await planRead(db, query), "json")).not.toBe(planTag(before, "json"));
}

async function resamples(db: Db) {
  const instrument = await makeInstrument(db, "RESAMPLE");
  // Nine minutes from 23:58 on, of which 00:01 is missing.
  const times = every("1m", "2024-01-31T23:58Z", 9).filter((_, index) => index !== 3);
  await store(db, instrument, "1m", rising(times));
  const range = { instrument, start: at("2024-01-31"), end: at("2024-03-01"), now };
  const { candles } = await readCandles(db, { ...range, timeframe: "5m" });
  // 23:58 and 23:59 (opens 1, 2); 00:00, 00:02, 00:03, 00:04 (3 to 6); 00:05 and 00:06 are not a whole bucket.
  expect(candles).toEqual({
    time: Float64Array.of(at("2024-01-31T23:55Z"), at("2024-02-01T00:00Z")),
    open: Float64Array.of(1, 3),
    high: Float64Array.of(4, 8),
    low: Float64Array.of(0.5, 2.5),
    close: Float64Array.of(3, 7),
    volume: Float64Array.of(20, 40),
  });
  // A week that spans two months is one candle.
  const days = every("1d", "2024-01-29T00:00Z", 7);
  await store(db, instrument, "1d", rising(days));
  const week = await readCandles(db, { ...range, start: at("2024-01-29"), timeframe: "1w" });
  expect(iso(week.candles.time)).toEqual(["2024-01-29T00:00"]);
  expect([...week.candles.close, ...week.candles.volume]).toEqual([8, 70]);
  expect(week.source).toBe("1d");

  const coarse = await makeInstrument(db, "COARSE");
  await store(db, coarse, "1h", rising(every("1h", "2024-01-01T00:00Z", 30)));
  const refused = readCandles(db, { ...range, instrument: coarse, timeframe: "15m" });
  await expect(refused).rejects.toThrow(TimeframeTooFineError);
  await expect(refused).rejects.toMatchObject({ finest: "1h", asked: "15m" });
}

async function endsWithCompleteBuckets(db: Db) {
  const range = { start: at("2024-02-01"), end: at("2024-04-01"), now };
  const weekly = async (instrument: Instrument, days: number[], more = {}) => {
    await store(db, instrument, "1d", rising(days));
    return iso((await readCandles(db, { ...range, instrument, timeframe: "1w", ...more })).candles.time);
  };
  // Monday 2024-02-26 to Friday 2024-03-01: over for a stock, not for crypto.
  const workdays = every("1d", "2024-02-26T00:00Z", 5);
  expect(await weekly(await makeInstrument(db, "STOCK", "stock"), workdays)).toEqual(["2024-02-26T00:00"]);
  expect(await weekly(await makeInstrument(db, "CRYPTO"), workdays)).toEqual([]);
  expect(await weekly(await makeInstrument(db, "THURSDAY", "stock"), workdays.slice(0, 4))).toEqual([]);
  // A forex week has five days, and a stored Sunday belongs to the Monday after it.
  const forex = await makeInstrument(db, "FOREX", "forex");
  expect(await weekly(forex, workdays)).toEqual(["2024-02-26T00:00"]);
  expect(await weekly(forex, [at("2024-03-03"), ...every("1d", "2024-03-04T00:00Z", 5)])).toEqual([
    "2024-02-26T00:00",
    "2024-03-04T00:00",
  ]);

  // A later end of the range does not make a bucket complete, an earlier one does not cut one that is.
  const crypto = await makeInstrument(db, "WHOLE");
  const eight = every("1d", "2024-02-26T00:00Z", 8);
  expect(await weekly(crypto, eight, { end: at("2024-02-27") })).toEqual(["2024-02-26T00:00"]);
  // A week that opens before the range is not in it.
  expect(await weekly(crypto, eight, { start: at("2024-02-27") })).toEqual([]);
  // A candle that closes later than now is still open.
  expect(await weekly(crypto, eight, { now: at("2024-03-04") - 1 })).toEqual([]);
  expect(await weekly(crypto, eight, { now: at("2024-03-04") })).toEqual(["2024-02-26T00:00"]);
  const daily = { ...range, instrument: crypto, timeframe: "1d", now: at("2024-02-27T23:59:59Z") } as const;
  expect(iso((await readCandles(db, daily)).candles.time)).toEqual(["2024-02-26T00:00"]);
}

async function prefersTheFurthestSource(db: Db) {
  const instrument = await makeInstrument(db, "SOURCES");
  await store(db, instrument, "1d", rising(every("1d", "2024-01-01T00:00Z", 3)));
  await store(db, instrument, "1h", rising(every("1h", "2024-01-01T00:00Z", 10 * 24)));
  const range = { instrument, timeframe: "1d", start: at("2024-01-01"), now } as const;
  const short = await readCandles(db, { ...range, end: at("2024-01-04") });
  expect([short.source, short.candles.time.length]).toEqual(["1d", 3]);
  const long = await readCandles(db, { ...range, end: at("2024-01-11") });
  expect([long.source, long.candles.time.length]).toEqual(["1h", 10]);
}

async function looksBack(db: Db) {
  const instrument = await makeInstrument(db, "LOOKBACK");
  await store(db, instrument, "1d", rising(every("1d", "2024-01-01T00:00Z", 91)));
  const query = { instrument, timeframe: "1d", start: at("2024-03-05"), end: at("2024-03-08"), now } as const;
  const ten = await readCandles(db, { ...query, lookback: 10 });
  // 5 March is day 65 of the year, so ten candles before it begin with day 55, 24 February.
  expect([ten.lookback, ten.candles.open[0], ten.candles.open[10], ten.candles.time.length]).toEqual([10, 55, 65, 13]);
  const all = await readCandles(db, { ...query, lookback: 1000 });
  expect([all.lookback, all.candles.open[0]]).toEqual([64, 1]);
  const weeks = await readCandles(db, {
    ...query,
    timeframe: "1w",
    start: at("2024-03-11"),
    end: at("2024-03-12"),
    lookback: 3,
  });
  expect(iso(weeks.candles.time)).toEqual([
    "2024-02-19T00:00",
    "2024-02-26T00:00",
    "2024-03-04T00:00",
    "2024-03-11T00:00",
  ]);
  expect(weeks.lookback).toBe(3);
}

async function countsGaps(db: Db) {
  const gaps = async (symbol: string, assetClass: AssetClass, timeframe: Timeframe, times: number[]) => {
    const instrument = await makeInstrument(db, symbol, assetClass);
    await store(db, instrument, timeframe, rising(times));
    return (await readCandles(db, { instrument, timeframe, start: at("2024-01-01"), end: at("2024-12-01"), now })).gaps;
  };
  // Friday 1 March, then Monday 4 March, then Wednesday 6 March.
  const days = [at("2024-03-01"), at("2024-03-04"), at("2024-03-06")];
  expect(await gaps("GAPS1", "stock", "1d", days)).toBe(1);
  expect(await gaps("GAPS2", "crypto", "1d", days)).toBe(2);
  // A night is none for a stock; the same hours are one for forex.
  const night = [at("2024-03-05T20:59Z"), at("2024-03-06T14:30Z")];
  expect(await gaps("GAPS3", "stock", "1m", night)).toBe(0);
  expect(await gaps("GAPS4", "forex", "1m", night)).toBe(1);
  expect(await gaps("GAPS5", "forex", "1m", [at("2024-03-01T21:59Z"), at("2024-03-03T22:00Z")])).toBe(0);
}

async function streams(db: Db) {
  const instrument = await makeInstrument(db, "STREAM");
  await store(db, instrument, "1h", rising(every("1h", "2023-12-31T00:00Z", 24 * 40)));
  const query = { instrument, timeframe: "4h", start: at("2024-01-01"), end: at("2024-02-05"), now } as const;
  const plan = await planRead(db, query);
  const batches: Candles[] = [];
  for await (const batch of candleBatches(db, plan)) batches.push(batch);
  const { candles } = await readCandles(db, query);
  expect(batches.length).toBeGreaterThan(1);
  expect(batches.flatMap((batch) => [...batch.close])).toEqual([...candles.close]);
  expect(plan.candlesMax).toBeGreaterThanOrEqual(candles.time.length);

  await store(db, instrument, "1h", rising(every("1h", "2024-02-01T00:00Z", 1), 77));
  const outdated = (async () => {
    for await (const _ of candleBatches(db, plan));
  })();
  await expect(outdated).rejects.toMatchObject({ name: "CandlesChangedError" });
}

async function readsNoFurther(db: Db) {
  const instrument = await makeInstrument(db, "PAGES");
  // A day a month: more chunks than are read at once.
  const days = Array.from({ length: 202 }, (_, i) => Date.UTC(2008, i, 1));
  await store(db, instrument, "1d", rising(days));
  const plan = await planRead(db, { instrument, timeframe: "1d", start: days[0]!, end: at("2024-10-15"), now });
  // A reader of the first candles is not affected by a change of the newest month.
  await store(db, instrument, "1d", rising([at("2024-10-02")]));
  const batches = candleBatches(db, plan);
  const { value } = await batches.next();
  expect([...value.open]).toEqual([1]);
  await batches.return(undefined);
}

async function refusesDamage(db: Db) {
  const instrument = await makeInstrument(db, "DAMAGE");
  await store(db, instrument, "1h", rising(every("1h", "2024-01-01T00:00Z", 48)));
  const [row] = await db.select().from(candleChunks).where(eq(candleChunks.instrumentId, instrument.id));
  const data = Uint8Array.from(row!.data);
  data[data.length >> 1]! ^= 1;
  await db.update(candleChunks).set({ data }).where(eq(candleChunks.instrumentId, instrument.id));
  const read = readCandles(db, { instrument, timeframe: "1h", start: at("2024-01-01"), end: at("2024-01-02"), now });
  await expect(read).rejects.toThrow(DamagedChunkError);
  // New candles replace the damaged chunk, whose other candles are unreadable.
  const stored = await store(db, instrument, "1h", rising(every("1h", "2024-01-02T00:00Z", 24)));
  expect(stored).toMatchObject({
    imported: 24,
    unchanged: 0,
    damaged: [{ chunk: { month: "2024-01-01", candles: 48 } }],
  });
  const after = { instrument, timeframe: "1h", start: at("2024-01-01"), end: at("2024-01-03"), now } as const;
  expect((await readCandles(db, after)).candles.time.length).toBe(24);
}
