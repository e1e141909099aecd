import { listChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import type { Instrument } from "../../db/instruments.ts";
import type { ReadSeries } from "../../db/result_inputs.ts";
import type { Execution } from "../../engine/execution.ts";
import { LostCandlesError } from "../../market/archive/chunk.ts";
import { replayedCandles } from "../../market/archive/replayed_candles.ts";
import type { TimeRange } from "../../market/archive/time_ranges.ts";
import type { Hours } from "../../market/calendar/exchange_sessions.ts";
import type { CandlesRead } from "../../market/archive/read.ts";
import { canMake, isFed, rangeOfDates } from "../../market/archive/made_candles.ts";
import { type CandleQuery, TimeframeTooFineError } from "../../market/archive/read_plan.ts";
import { FeedError, type FeedFault } from "../../market/feeds/feed.ts";
import { chooseTargets, completeFirst, UnknownTargetError } from "../../market/on_demand/choose_target.ts";
import type { ReadThrough } from "../../market/on_demand/read_through.ts";
import { isCoarser, isDaily, type Timeframe, TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { type FailureCode, RunError } from "../common/outcome.ts";
import type { CandleCache } from "./candle_cache.ts";
import { type CandlesRecord, datesOf } from "./candles_record.ts";
import { type LoadedInput, loadInputs, type ReadInput } from "./input_candles.ts";
import { noData } from "./no_data.ts";
import { describeSeries, type LoadedCandles } from "./read_series.ts";
import type { RunSettings } from "./run_settings.ts";

// A run can wait longer for a provider than a request: about 5 s between the attempts, besides the time that each one takes.
const FETCH_ATTEMPTS_MAX = 4;

const FEED_CODES = {
  rate_limited: "PROVIDER_RATE_LIMITED",
  failed: "PROVIDER_FAILED",
  refused: "PROVIDER_FAILED",
  unknown_symbol: "NO_DATA",
  not_configured: "NO_DATA",
} as const satisfies Record<FeedFault, FailureCode>;

/** The services that provide candles. */
export interface CandleServices {
  readonly db: Db;
  readonly candles: CandleCache;
  readonly readThrough: ReadThrough;
  /** The limit of a run's candles, and of the finer ones that it replays. */
  readonly candlesMax: number;
  /** Ends the wait for a provider with its reason; absent: nothing does. */
  readonly signal?: AbortSignal;
}

/** The candles on which a run decides. */
interface WantedOfRun {
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  readonly hours: Hours;
  /** True: the series' newest candle may be older than the range. Absent: false. */
  readonly isInput?: boolean;
}

/** The candles of a backtest, in shared memory. */
export interface MarketData {
  readonly instrument: Instrument;
  readonly read: CandlesRead;
  /** Of a finer timeframe, for bothTouched "magnify"; null if not requested, or if the archive has none. */
  readonly finer: LoadedCandles | null;
  /** The execution's benchmark; null without one. */
  readonly benchmark: Benchmark | null;
  /** Candles that the strategy reads beside its own. */
  readonly inputs: readonly LoadedInput[];
  /** All stored candles that were read for it. */
  readonly series: readonly ReadSeries[];
}

/** Candles for the comparison with a run. */
export interface Benchmark {
  readonly instrument: Instrument;
  /** A day, or the run's timeframe if it is longer. */
  readonly timeframe: Timeframe;
  readonly read: LoadedCandles;
}

/**
 * Loads a backtest's candles.
 *
 * @param lookback Candles that the strategy needs before the start date; the archive may have fewer.
 * @throws {RunError} NO_DATA, RANGE_TOO_LARGE; PROVIDER_FAILED or PROVIDER_RATE_LIMITED when a feed had candles to give and did not.
 */
export async function loadCandles(
  services: CandleServices,
  record: CandlesRecord,
  { timeframe, hours, execution, inputs: wantedInputs }: {
    readonly timeframe: Timeframe;
    readonly hours: Hours;
    readonly execution: Execution;
    readonly inputs: RunSettings["inputs"];
  },
  lookback: number,
): Promise<MarketData> {
  const instrument = await findBacktestInstrument(services, record, { timeframe, hours });
  const wanted = { instrument, timeframe, hours, lookback: execution.lookback ? lookback : 0 };
  const read = await readBacktestCandles(services, record, wanted);
  const finer = execution.bothTouched === "magnify" ? await readFinerCandles(services, record, wanted) : null;
  const benchmark = await loadBenchmark(services, record, { timeframe, hours, execution });
  const own = { instrument, time: read.candles.time, timeframe, hours, lookback: execution.lookback ? lookback : null };
  const inputs = await loadInputs(wantedInputs, own, readerOf(services, record, hours));
  const series = [
    describeSeries(instrument, read, timeframe),
    ...(finer === null ? [] : [describeSeries(instrument, finer, finer.source)]),
    ...(benchmark === null ? [] : [describeSeries(benchmark.instrument, benchmark.read, benchmark.timeframe)]),
    ...inputs.map((input) => describeSeries(input.instrument, input.read, input.timeframe)),
  ];
  if (finer === null || (read.source === timeframe && !isDaily(timeframe))) {
    return { instrument, read, finer, benchmark, inputs, series };
  }
  const candles = replayedCandles(instrument, finer.candles, { source: finer.source, timeframe, hours });
  return { instrument, read, finer: { ...finer, candles }, benchmark, inputs, series };
}

/** Reads inputs. One without a symbol is of the run's own instrument. */
function readerOf(services: CandleServices, record: CandlesRecord, hours: Hours): ReadInput {
  return async ({ timeframe, symbol = record.symbol, exchange = record.exchange }, wanted) => {
    const named = { ...record, symbol, exchange };
    const instrument = await findBacktestInstrument(services, named, { timeframe, hours });
    const lookback = Math.min(wanted, services.candlesMax);
    const read = await readBacktestCandles(services, named, { instrument, timeframe, hours, lookback, isInput: true });
    return { instrument, read };
  };
}

/** @throws {RunError} As loadCandles(), with the benchmark's name. */
async function loadBenchmark(
  services: CandleServices,
  record: CandlesRecord,
  run: { readonly timeframe: Timeframe; readonly hours: Hours; readonly execution: Execution },
): Promise<Benchmark | null> {
  const { hours, execution: { benchmark } } = run;
  if (benchmark === null) return null;
  const timeframe = isCoarser(run.timeframe, "1d") ? run.timeframe : "1d";
  const other = { ...record, ...benchmark };
  try {
    const instrument = await findBacktestInstrument(services, other, { timeframe, hours });
    return {
      instrument,
      timeframe,
      read: await readBacktestCandles(services, other, { instrument, timeframe, hours, lookback: 0 }),
    };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    throw new RunError(error.code, `Cannot load the benchmark: ${error.message}`);
  }
}

/**
 * The instrument that a backtest names. Its feed first completes the candles of the range in the archive.
 *
 * @throws {RunError} NO_DATA, naming the exchanges that have the symbol or a feed's missing setting; those of FEED_CODES.
 */
async function findBacktestInstrument(
  { db, candles, readThrough, signal }: CandleServices,
  record: CandlesRecord,
  wanted: { readonly timeframe: Timeframe; readonly hours: Hours },
): Promise<Instrument> {
  const held = await candles.findInstrument(record);
  if (held !== undefined && !isFed(held)) return held;
  try {
    const { symbol, exchange } = record;
    const targets = held === undefined ? await chooseTargets(db, readThrough.feeds, { symbol, exchange }) : [held];
    return await completeFirst(targets, (target) => {
      const range = rangeOfDates(target, wanted.timeframe, datesOf(record));
      return readThrough.complete(target, { ...wanted, ...range, attemptsMax: FETCH_ATTEMPTS_MAX, signal });
    });
  } catch (error) {
    if (error instanceof UnknownTargetError) throw await noData(db, record, { hint: error.hint });
    throw toRunError(error);
  }
}

/**
 * A backtest's candles in shared memory.
 *
 * @param lookback Candles before the start date; the archive may have fewer.
 * @throws {RunError} NO_DATA, naming the stored or damaged candles; RANGE_TOO_LARGE; those of FEED_CODES.
 */
export async function readBacktestCandles(
  { db, candles, readThrough, candlesMax, signal }: CandleServices,
  record: CandlesRecord,
  wanted: WantedOfRun & { readonly lookback: number },
): Promise<LoadedCandles> {
  const query = { ...wanted, ...rangeOfDates(wanted.instrument, wanted.timeframe, datesOf(record)) };
  try {
    await refresh(readThrough, query, signal);
    const readAt = Date.now();
    const read = await candles.read(query, (error) => readThrough.repair(wanted.instrument, error, signal));
    const { timeframe } = wanted;
    requireShort({ count: read.candles.time.length - read.lookback, candlesMax, timeframe });
    if (read.candles.time.length > (wanted.isInput ? 0 : read.lookback)) return { ...read, readAt };
  } catch (error) {
    throw toRunError(error);
  }
  throw await noData(db, record, { timeframe: wanted.timeframe });
}

/** The candles of a held instrument in a run's range and timeframe, completed by its feed. @throws {RunError} As readBacktestCandles(). */
export async function readInstrumentCandles(
  services: CandleServices,
  record: CandlesRecord,
  { timeframe, hours }: { readonly timeframe: Timeframe; readonly hours: Hours },
  { symbol, exchange }: Instrument,
  lookback: number,
): Promise<LoadedCandles> {
  const named = { ...record, symbol, exchange };
  const instrument = await findBacktestInstrument(services, named, { timeframe, hours });
  return await readBacktestCandles(services, named, { instrument, timeframe, hours, lookback, isInput: true });
}

/** The run's error for an error of a search for candles. */
function toRunError(error: unknown): unknown {
  if (error instanceof FeedError) return new RunError(FEED_CODES[error.fault], error.message);
  const isLacking = error instanceof TimeframeTooFineError || error instanceof LostCandlesError;
  return isLacking ? new RunError("NO_DATA", error.message) : error;
}

/**
 * Fetches candles from before a split again. If their feed fails, the run has a shorter lookback or replays fewer finer candles: the
 * simulator ignores finer candles that do not reach as far as the coarser ones.
 */
async function refresh(readThrough: ReadThrough, query: CandleQuery, signal?: AbortSignal): Promise<void> {
  try {
    await readThrough.refresh(query, signal);
  } catch (error) {
    if (!(error instanceof FeedError)) throw error;
  }
}

/**
 * The finest stored candles of the same range whose timeframe divides the backtest's; null if none are finer.
 *
 * @throws {RunError} RANGE_TOO_LARGE, before they are read; NO_DATA, when damaged ones cannot be fetched again.
 */
export async function readFinerCandles(
  services: CandleServices,
  record: CandlesRecord,
  wanted: WantedOfRun,
): Promise<LoadedCandles | null> {
  const { db, candles, readThrough, candlesMax, signal } = services;
  const { instrument, timeframe, hours } = wanted;
  const { start, end } = momentsOf(wanted, record);
  const within = (await listChunks(db, instrument.id)).filter(({ firstTime, lastTime }) =>
    firstTime.getTime() < end && lastTime.getTime() >= start
  );
  const held = new Set(within.map((chunk) => chunk.timeframe));
  const finest = TIMEFRAME_NAMES.find((name) => held.has(name) && canMake(instrument, name, { timeframe, hours }));
  if (finest === undefined || finest === timeframe) return null;
  // Chunks are whole months, so this counts a few more candles than the run replays.
  const count = within.reduce((sum, chunk) => sum + (chunk.timeframe === finest ? chunk.candles : 0), 0);
  requireShort({ count, candlesMax, timeframe: finest });
  const query = { instrument, timeframe: finest, hours, start, end };
  await refresh(readThrough, query, signal);
  const readAt = Date.now();
  try {
    const read = await candles.read(query, (error) => readThrough.repair(instrument, error, signal));
    return read.candles.time.length === 0 ? null : { ...read, readAt };
  } catch (error) {
    if (error instanceof LostCandlesError) throw new RunError("NO_DATA", error.message);
    if (!(error instanceof FeedError)) throw error;
    // Damaged candles that no feed could replace are gone now, and another timeframe may be the finest.
    return await readFinerCandles(services, record, wanted);
  }
}

function requireShort(
  { count, candlesMax, timeframe }: {
    readonly count: number;
    readonly candlesMax: number;
    readonly timeframe: Timeframe;
  },
): void {
  if (count <= candlesMax) return;
  throw new RunError(
    "RANGE_TOO_LARGE",
    `Cannot run over ${count} ${timeframe} candles: at most ${candlesMax} are allowed; shorten the range`,
  );
}

/** The range of a backtest in time, for any stamping of its candles. */
function momentsOf({ instrument, timeframe }: WantedOfRun, record: CandlesRecord): TimeRange {
  // Every timeframe that begins with the trading date begins at the same time.
  return rangeOfDates(instrument, timeframe === "1m" ? "1m" : "1h", datesOf(record));
}
