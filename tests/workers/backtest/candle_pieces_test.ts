/** Random reads through the cache, between imports, beside the same reads without it. */
import { expect } from "@std/expect";
import { candleChunks } from "../../../db/schema.ts";
import { and, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { addCoverage } from "../../../db/coverage.ts";
import { ensureInstrument, type Instrument, type NewInstrument } from "../../../db/instruments.ts";
import type { Candles } from "../../../engine/candles.ts";
import { allocateCandles, hashCandles } from "../../../market/archive/candle_columns.ts";
import { type CandlesRead, readPlan } from "../../../market/archive/read.ts";
import { type CandleQuery, planRead } from "../../../market/archive/read_plan.ts";
import { storeCandles } from "../../../market/archive/store.ts";
import { DAY_MS, divides, shortestMs, type Timeframe, TIMEFRAME_NAMES } from "../../../market/timeframes.ts";
import { CandleCache } from "../../../workers/backtest/candle_cache.ts";
import { openTestDatabase } from "../../support/database.ts";

const SEED = Number(Deno.env.get("PROPERTY_SEED") ?? 1);
const READS = 40;
const FIRST = Date.UTC(2023, 10, 6);
const DAYS = 100;
const HALF_HOUR_MS = 1_800_000;
const NOW = Date.UTC(2025, 0, 1);

/** The stored timeframes of instruments whose buckets cross months in every way. */
const SERIES: readonly (readonly [instrument: Omit<NewInstrument, "id" | "symbol">, stored: readonly Timeframe[]])[] = [
  [{ exchange: "TEST", assetClass: "crypto", provider: "import" }, ["30m", "1d"]],
  [{ exchange: "TEST", assetClass: "forex", provider: "import" }, ["30m"]],
  [{ exchange: "TEST", assetClass: "forex", provider: "import" }, ["1d"]],
  [{ exchange: "NYSE", assetClass: "stock", provider: "import" }, ["1h"]],
  [{ exchange: "ASX", assetClass: "stock", provider: "import" }, ["30m", "1h"]],
  [{ exchange: "NYSE", assetClass: "stock", provider: "provider_b" }, ["30m"]],
  // It opens a quarter of an hour after midnight UTC, so that candles of the month before reach into it.
  [{
    exchange: "TEST",
    assetClass: "stock",
    provider: "import",
    session: { timezone: "UTC", open: "00:15", close: "23:45", weekdays: [1, 2, 3, 4, 5, 6, 7], extended: null },
  }, ["1h"]],
];

let state = SEED;
/** A whole number below `limit`. */
function below(limit: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor(state / 2 ** 32 * limit);
}

function pick<T>(from: readonly T[]): T {
  return from[below(from.length)]!;
}

/** Candles of a stretch of days, of which some are missing, one by one or many at a time. */
function randomCandles(timeframe: Timeframe, firstDay: number, days: number): Candles {
  const lengthMs = shortestMs(timeframe);
  const times: number[] = [];
  for (let at = 0; at < days * DAY_MS / lengthMs; at++) {
    if (below(40) === 0) at += below(4 * DAY_MS / lengthMs);
    if (at < days * DAY_MS / lengthMs) times.push(FIRST + firstDay * DAY_MS + at * lengthMs);
  }
  const candles = allocateCandles(times.length);
  for (const [i, time] of times.entries()) {
    const [a, b, c, d] = [0, 0, 0, 0].map(() => 100 + below(1000) / 7).toSorted((x, y) => x - y);
    candles.time[i] = time;
    candles.low[i] = a!;
    candles.open[i] = b!;
    candles.close[i] = c!;
    candles.high[i] = d!;
    candles.volume[i] = below(1000) / 3;
  }
  return candles;
}

async function store(db: Db, instrument: Instrument, timeframe: Timeframe, candles: Candles): Promise<void> {
  await db.transaction((tx: Db) => storeCandles(tx, { instrumentId: instrument.id, timeframe }, candles));
}

function randomQuery(instrument: Instrument, stored: readonly Timeframe[]): CandleQuery {
  // New York opens at 14:30 in winter.
  const moment = () => FIRST + below(DAYS + 20) * DAY_MS + pick([0, 0, below(48), 29]) * HALF_HOUR_MS - 10 * DAY_MS;
  const [start, end] = [moment(), moment()].toSorted((a, b) => a - b);
  return {
    instrument,
    timeframe: pick(TIMEFRAME_NAMES.filter((name) => stored.some((source) => divides(source, name)))),
    hours: pick(["regular", "regular", "extended"]),
    start: start!,
    end: end! + HALF_HOUR_MS,
    lookback: pick([0, 1, below(50), below(500)]),
    now: NOW,
  };
}

function expectSame(read: CandlesRead, direct: CandlesRead): void {
  const { candles, ...facts } = read;
  const { candles: directCandles, ...directFacts } = direct;
  expect(facts).toEqual(directFacts);
  // The direct read's checksum says what every column holds.
  expect(hashCandles(candles)).toBe(direct.sha256);
  expect(candles.time.length).toBe(directCandles.time.length);
  expect(candles.time.length === 0 || candles.time.buffer instanceof SharedArrayBuffer).toBe(true);
}

Deno.test("the cache reads what the archive holds, to the byte, whoever asks and whatever was imported between", async () => {
  const handle = await openTestDatabase("PGlite");
  const { db } = handle;
  let [bytesMost, views] = [0, 0];
  for (const [index, [row, stored]] of SERIES.entries()) {
    const instrument = await ensureInstrument(db, { ...row, symbol: `S${index}` });
    for (const timeframe of stored) {
      await store(db, instrument, timeframe, randomCandles(timeframe, 0, DAYS));
      if (row.provider === "import") continue;
      const [start, end] = [new Date(FIRST + 40 * DAY_MS), new Date(FIRST + DAYS * DAY_MS)];
      await addCoverage(db, { instrumentId: instrument.id, timeframe }, { start, end });
    }
    // Room for some of the series' timeframes and hours.
    const cache = new CandleCache(db, 1_000_000);
    const buffers = new Set<unknown>();
    for (let k = 0; k < READS; k++) {
      if (below(8) === 0) {
        const timeframe = pick(stored);
        await store(db, instrument, timeframe, randomCandles(timeframe, below(DAYS + 10), 1 + below(20)));
      }
      const query = randomQuery(instrument, stored);
      const direct = await readPlan(db, await planRead(db, query));
      const [read, again] = await Promise.all([cache.read(query), cache.read(query)]);
      expectSame(read, direct);
      expectSame(again, direct);
      bytesMost = Math.max(bytesMost, cache.bytes);
      buffers.add(read.candles.time.buffer);
      views++;
    }
    expect(buffers.size).toBeLessThan(READS);
  }
  expect(bytesMost).toBeLessThanOrEqual(1_000_000);
  expect(views).toBe(SERIES.length * READS);
  await handle.close();
});

Deno.test("a revision is read alone: the other months stay as they are", async () => {
  const handle = await openTestDatabase("PGlite");
  const { db } = handle;
  const instrument = await ensureInstrument(db, { ...SERIES[0]![0], symbol: "REVISED" });
  await store(db, instrument, "30m", randomCandles("30m", 0, DAYS));
  const cache = new CandleCache(db);
  const query = { instrument, timeframe: "1h", start: FIRST, end: FIRST + DAYS * DAY_MS, now: NOW } as const;
  await cache.read(query);
  await store(db, instrument, "30m", randomCandles("30m", 40, 3));
  const direct = await readPlan(db, await planRead(db, query));
  // Nothing of the other months can be read any more.
  const revised = new Date(FIRST + 40 * DAY_MS).toISOString().slice(0, 7);
  await db.update(candleChunks).set({ data: new Uint8Array(1) })
    .where(and(eq(candleChunks.instrumentId, instrument.id), ne(candleChunks.month, `${revised}-01`)));
  expectSame(await cache.read(query), direct);
  await expect(new CandleCache(db).read(query)).rejects.toThrow("Cannot trust the stored 30m candles");
  await handle.close();
});

Deno.test("a month that only completes a bucket fails no run that has no candle of it", async () => {
  const handle = await openTestDatabase("PGlite");
  const { db } = handle;
  const instrument = await ensureInstrument(db, { ...SERIES[0]![0], symbol: "DAMAGED" });
  await store(db, instrument, "1d", randomCandles("1d", 0, DAYS));
  const start = Date.UTC(2023, 10, 6);
  const query = { instrument, timeframe: "1w", start, end: Date.UTC(2023, 10, 20), now: NOW } as const;
  const direct = await readPlan(db, await planRead(db, query));
  await db.update(candleChunks).set({ data: new Uint8Array(1) })
    .where(and(eq(candleChunks.instrumentId, instrument.id), eq(candleChunks.month, "2023-12-01")));
  expectSame(await new CandleCache(db).read(query), direct);
  await handle.close();
});
