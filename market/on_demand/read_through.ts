import { type ChunkRow, type ChunkSummary, deleteChunk, readChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listInstrumentCoverage, removeCoverage, type SeriesKey } from "../../db/coverage.ts";
import { insertEvents, insertRun } from "../../db/ingestion.ts";
import type { Instrument } from "../../db/instruments.ts";
import { AddressLimits } from "./address_limits.ts";
import { isHistoryAdjusted } from "../ingestion/adjusted_history.ts";
import { DamagedChunkError, LostCandlesError, openChunk } from "../archive/chunk.ts";
import { type CandleQuery, isAdjusting, isFed, planRead, type ReadPlan } from "../archive/read_plan.ts";
import { missingRanges } from "../archive/held.ts";
import type { Feed, Feeds } from "../feeds/feed.ts";
import {
  fetchSeries,
  IMPATIENT,
  noCandles,
  type Patience,
  type SeriesWork,
  type Target,
} from "../ingestion/fetch_series.ts";
import { finishRun } from "../ingestion/ingestion_run.ts";
import { subtractRanges, type TimeRange } from "../archive/time_ranges.ts";
import {
  bucketStart,
  bucketStartAtOrAfter,
  divides,
  isTimeframe,
  monthEnd,
  type Timeframe,
  TIMEFRAME_NAMES,
  TIMEFRAMES,
} from "../timeframes.ts";

/** Candles that should be there. */
export interface Wanted extends TimeRange {
  readonly timeframe: Timeframe;
  /** Called before a feed is asked; may throw, and nothing is asked then. */
  readonly beforeFetch?: () => void;
  /** Whether finer candles do not stand in for them. */
  readonly isExact?: boolean;
}

// What a provider may still publish is asked for again, but not by every request.
const RECHECK_MS = 60_000;
// Who reads a history page by page need not ask for its oldest candle with each.
const HISTORY_RECHECK_MS = 3_600_000;
const REMEMBERED_MAX = 10_000;
// What is fetched first may be what shows a split, and then the rest is doubtful, too.
const REFRESH_ROUNDS_MAX = 2;

/** The way to candles that may not be archived yet: what is missing is fetched first, once for all who ask at the same time. */
export class ReadThrough {
  readonly feeds: Feeds;
  /** What callers who are not known may cause. */
  readonly limits: AddressLimits;
  readonly #db: Db;
  readonly #patience: Patience;
  readonly #now: () => number;
  readonly #inFlight = new Map<string, { readonly range: TimeRange; readonly done: Promise<Instrument> }>();
  /** When each series was asked for last, and when an instrument's oldest candle was. */
  readonly #asked = new Map<string, number>();
  readonly #checked = new Map<string, number>();
  /** Damaged chunks that nobody gives again, and have been told of. */
  readonly #lost = new Map<string, LostCandlesError>();
  readonly #closing = new AbortController();

  constructor(db: Db, feeds: Feeds, options: { patience?: Patience; now?: () => number } = {}) {
    this.#db = db;
    this.feeds = feeds;
    this.#patience = options.patience ?? IMPATIENT;
    this.#now = options.now ?? Date.now;
    this.limits = new AddressLimits(this.#now);
  }

  /** Ends what is being fetched; resolves when nothing is. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("Cannot go on fetching candles: the service is closing"));
    await Promise.allSettled([...this.#inFlight.values()].map(({ done }) => done));
  }

  /**
   * Fetches what the archive lacks of a range.
   *
   * @returns The instrument: a new one exists from its first candle on.
   * @throws {FeedError} `unknown_symbol` also where a new instrument has no candle in the range.
   */
  async complete(target: Target, wanted: Wanted): Promise<Instrument> {
    if (!isFed(target)) return requireInstrument(target);
    const range = {
      start: bucketStartAtOrAfter(wanted.start, wanted.timeframe),
      end: Math.min(bucketStartAtOrAfter(wanted.end, wanted.timeframe), bucketStart(this.#now(), wanted.timeframe)),
    };
    // What is held is answered without a feed, which may not be set up any more.
    if (target.id !== undefined && await this.#isHeld(target.id, wanted, range)) return target;
    const feed = this.feeds(target);
    if (feed === undefined) return requireInstrument(target);
    const timeframe = feed.sourceTimeframe(wanted.timeframe);
    const key = JSON.stringify([target.symbol, target.exchange, timeframe]);
    for (let other = this.#inFlight.get(key); other !== undefined; other = this.#inFlight.get(key)) {
      const isSame = other.range.start <= range.start && other.range.end >= range.end;
      // Who asks for the same takes the same answer, errors included; who asks for more looks again afterwards.
      if (isSame) return await other.done;
      await other.done.catch(() => {});
      if (target.id !== undefined && await this.#isHeld(target.id, wanted, range)) return target;
    }
    const missing = await this.#findMissing(target, feed, timeframe, range);
    if (missing.length === 0) return requireInstrument(target);
    // Someone may have begun while this one looked.
    if (this.#inFlight.has(key)) return await this.complete(target, wanted);
    wanted.beforeFetch?.();
    const done = this.#fetch(target, feed, timeframe, range, missing);
    this.#inFlight.set(key, { range, done });
    try {
      return await done;
    } finally {
      this.#inFlight.delete(key);
    }
  }

  /**
   * Fetches again what a query reads and a split has made doubtful: lookback, and finer candles.
   *
   * @throws {FeedError}
   */
  async refresh(query: CandleQuery): Promise<void> {
    const { instrument } = query;
    if (!isAdjusting(instrument)) return;
    for (let round = 1; round <= REFRESH_ROUNDS_MAX; round++) {
      const { source, doubtful } = await planRead(this.#db, query);
      if (doubtful.length === 0) return;
      for (const range of doubtful) await this.complete(instrument, { timeframe: source, ...range, isExact: true });
    }
  }

  /**
   * Reports a damaged chunk, and fetches what was in it again.
   *
   * @throws {LostCandlesError} Where nobody can give it again: it was imported or made here.
   * @throws {FeedError} Its candles are missing then, and fetched when they are asked for.
   */
  async repair(instrument: Instrument, damage: DamagedChunkError): Promise<void> {
    const { chunk, message } = damage;
    const { provider, symbol, exchange } = instrument;
    const canFetch = isFed(instrument);
    // Whoever asks again and again shall not fill the list of events.
    const told = this.#lost.get(nameOf(chunk));
    if (told !== undefined && !canFetch) throw told;
    const { timeframe } = chunk;
    const start = new Date(`${chunk.month}T00:00:00Z`);
    const end = new Date(monthEnd(chunk.month));
    const run = await this.#beginRun(instrument);
    const known = await this.#db.transaction(async (tx) => {
      const event = { runId: run, provider, symbol, exchange, timeframe, start, end, candles: chunk.candles };
      await insertEvents(tx, [{ ...event, type: "failed", message }]);
      // Another reader may have had it replaced already.
      return canFetch && await deleteChunk(tx, chunk) ? await removeCoverage(tx, chunk, { start, end }) : [];
    });
    await finishRun(this.#db, run, message);
    // It is missing now, however lately it was asked for.
    this.#asked.delete(keyOf(chunk));
    if (!canFetch || !isTimeframe(timeframe)) {
      const lost = new LostCandlesError(instrument, chunk, damage);
      remember(this.#lost, nameOf(chunk), lost);
      throw lost;
    }
    const held = { start: chunk.firstTime, end: new Date(chunk.lastTime.getTime() + TIMEFRAMES[timeframe]) };
    // Exactly what was known, so that the same candles make the same chunk again.
    for (const stretch of known.length > 0 ? known : [held]) {
      const [start, end] = [stretch.start.getTime(), stretch.end.getTime()];
      await this.complete(instrument, { timeframe, start, end, isExact: true });
    }
  }

  /**
   * Tells before an answer begins that it would break off, where a chunk of it was found to be damaged, and still is.
   *
   * @throws {LostCandlesError}
   */
  async requireWhole({ instrument, source, chunks }: ReadPlan): Promise<void> {
    if (isFed(instrument) || this.#lost.size === 0) return;
    for (const chunk of chunks) {
      const lost = this.#lost.get(nameOf(chunk));
      if (lost === undefined) continue;
      const [row] = await readChunks(this.#db, {
        instrumentId: instrument.id,
        timeframe: source,
        months: [chunk.month],
      });
      if (row !== undefined && isDamaged(row)) throw lost;
      this.#lost.delete(nameOf(chunk));
    }
  }

  async #isHeld(instrumentId: string, { timeframe, isExact = false }: Wanted, range: TimeRange): Promise<boolean> {
    const coverage = await listInstrumentCoverage(this.#db, instrumentId);
    const names = isExact ? [timeframe] : TIMEFRAME_NAMES.filter((name) => divides(name, timeframe));
    return names.some((name) => subtractRanges(range, coverage.filter((each) => each.timeframe === name)).length === 0);
  }

  async #findMissing(target: Target, feed: Feed, timeframe: Timeframe, range: TimeRange): Promise<TimeRange[]> {
    if (range.start >= range.end) return [];
    if (target.id === undefined) return [range];
    const series = { instrumentId: target.id, timeframe };
    const missing = await missingRanges(this.#db, series, range);
    const now = this.#now();
    const settledUntil = bucketStart(now - feed.settleMs, timeframe);
    const isRecent = missing.every(({ start }) => start >= settledUntil);
    return isRecent && isWithin(RECHECK_MS, this.#asked.get(keyOf(series)), now) ? [] : missing;
  }

  async #fetch(
    target: Target,
    feed: Feed,
    timeframe: Timeframe,
    range: TimeRange,
    missing: readonly TimeRange[],
  ): Promise<Instrument> {
    const runId = await this.#beginRun(target);
    const now = this.#now();
    try {
      // Not ended by a caller who leaves: others may have joined, and what comes is archived anyway.
      const { signal } = this.#closing;
      const work = { runId, target, timeframe, feed, patience: this.#patience, signal, now };
      // Candles from before and after a split do not belong together: where one came between, all that is asked for is missing.
      const isAdjusted = await this.#isAdjusted(work);
      const { instrument } = await fetchSeries(this.#db, work, isAdjusted ? [range] : missing);
      await finishRun(this.#db, runId, null);
      remember(this.#asked, keyOf({ instrumentId: instrument?.id ?? "", timeframe }), now);
      return instrument ?? requireInstrument(target);
    } catch (error) {
      await finishRun(this.#db, runId, error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  async #isAdjusted(work: SeriesWork): Promise<boolean> {
    const { target, now } = work;
    const key = target.id ?? "";
    if (target.assetClass !== "stock" || isWithin(HISTORY_RECHECK_MS, this.#checked.get(key), now)) return false;
    const isAdjusted = await isHistoryAdjusted(this.#db, work);
    remember(this.#checked, key, now);
    return isAdjusted ?? false;
  }

  async #beginRun({ symbol, exchange }: Pick<Target, "symbol" | "exchange">): Promise<string> {
    return await this.#db.transaction(async (tx) => {
      const instruments = [{ symbol, exchange }];
      const { id } = await insertRun(tx, { status: "running", trigger: "request", instruments, startedAt: new Date() });
      await insertEvents(tx, [{ runId: id, type: "run_started", symbol, exchange }]);
      return id;
    });
  }
}

function keyOf({ instrumentId, timeframe }: SeriesKey): string {
  return `${instrumentId} ${timeframe}`;
}

/** One that is written again has another name. */
function nameOf(chunk: ChunkSummary): string {
  return `${keyOf(chunk)} ${chunk.month} ${chunk.updatedAt.getTime()}`;
}

function isDamaged(row: ChunkRow): boolean {
  try {
    openChunk(row);
    return false;
  } catch (error) {
    if (error instanceof DamagedChunkError) return true;
    throw error;
  }
}

/** A time that is still to come is of before the clock was put back: that is long ago. */
function isWithin(ms: number, time: number | undefined, now: number): boolean {
  return time !== undefined && time <= now && time > now - ms;
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(key, value);
}

function requireInstrument(target: Target): Instrument {
  if (target.id !== undefined) return target;
  throw noCandles(target);
}
