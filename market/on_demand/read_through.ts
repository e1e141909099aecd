import { type ChunkSummary, deleteChunk, readChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listInstrumentCoverage, removeCoverage, type SeriesKey } from "../../db/coverage.ts";
import { insertEvents, insertRun } from "../../db/ingestion.ts";
import { type Instrument, lockInstrument } from "../../db/instruments.ts";
import { ArchiveCap } from "./archive_cap.ts";
import { FetchLimits } from "./fetch_limits.ts";
import { isHistoryAdjusted } from "../ingestion/adjusted_history.ts";
import { type DamagedChunkError, isDamaged, LostCandlesError } from "../archive/chunk.ts";
import { canMake, isFed, rangeToFetch, type WantedCandles } from "../archive/made_candles.ts";
import { type CandleQuery, isAdjusting, planRead, type ReadPlan } from "../archive/read_plan.ts";
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
import { bucketStart, candleEnd, isTimeframe, monthEnd, type Timeframe, TIMEFRAME_NAMES } from "../timeframes.ts";

/** The candles that a caller wants the archive to hold. */
export interface Wanted extends WantedCandles {
  /** Called before a request to a feed; may throw to prevent it. */
  readonly beforeFetch?: () => void;
  /** True if finer candles are no substitute. */
  readonly isExact?: boolean;
  /** Attempts without a new candle before the fetch fails; default: those of the read-through's patience. */
  readonly attemptsMax?: number;
  /** Ends the caller's wait with its reason. The fetch goes on: others may have joined, and the candles are archived anyway. */
  readonly signal?: AbortSignal | undefined;
}

// A provider may still publish recent candles, but not every request needs to ask for them.
const RECHECK_MS = 60_000;
// A client that reads a history page by page need not check its oldest candle with each page.
const HISTORY_RECHECK_MS = 3_600_000;
const REMEMBERED_MAX = 10_000;
// The first fetch may reveal a split, which makes the other ranges doubtful too.
const REFRESH_ROUNDS_MAX = 2;

/** Fetches candles that the archive lacks, once for all callers at a time. */
export class ReadThrough {
  readonly feeds: Feeds;
  /** Limits the fetches that callers cause. */
  readonly limits: FetchLimits;
  readonly #db: Db;
  readonly #patience: Patience;
  readonly #cap: ArchiveCap;
  readonly #now: () => number;
  readonly #inFlight = new Map<string, { readonly range: TimeRange; readonly done: Promise<Instrument> }>();
  /** When each series was last fetched, and when each instrument's oldest candle was last checked. */
  readonly #asked = new Map<string, number>();
  readonly #checked = new Map<string, number>();
  /** Damaged chunks that no provider has, and that an event reports already. */
  readonly #lost = new Map<string, LostCandlesError>();
  readonly #closing = new AbortController();

  /** @param options `archiveBytesMax`: bytes of candles of instruments that nobody configured; above it the least used ones go. */
  constructor(
    db: Db,
    feeds: Feeds,
    options: { patience?: Patience; now?: () => number; archiveBytesMax?: number } = {},
  ) {
    this.#db = db;
    this.feeds = feeds;
    this.#patience = options.patience ?? IMPATIENT;
    this.#now = options.now ?? Date.now;
    this.#cap = new ArchiveCap(db, options.archiveBytesMax ?? Infinity, this.#now);
    this.limits = new FetchLimits(this.#now);
  }

  /** Stops every fetch; resolves when none is left. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("Cannot fetch more candles: the service is closing"));
    await Promise.allSettled([...this.#inFlight.values()].map(({ done }) => done));
  }

  /**
   * Fetches the parts of a range that the archive lacks.
   *
   * @returns The instrument; a new one is created with its first candle.
   * @throws {FeedError} `unknown_symbol` also where a new instrument has no candle in the range.
   */
  async complete(target: Target, wanted: Wanted): Promise<Instrument> {
    if (!isFed(target)) return requireInstrument(target);
    if (target.id !== undefined && !await this.#cap.touch(target.id)) {
      // It was evicted a moment ago, so its candles make a new instrument.
      const { symbol, exchange, assetClass, provider } = target;
      return await this.complete({ symbol, exchange, assetClass, provider }, wanted);
    }
    // Archived candles need no feed, which may no longer be configured.
    if (target.id !== undefined && await this.#isHeld(target, wanted)) return target;
    const feed = this.feeds(target);
    if (feed === undefined) return requireInstrument(target);
    const timeframe = wanted.isExact
      ? wanted.timeframe
      : feed.sourceTimeframe(wanted.timeframe, target.assetClass, wanted.hours);
    const range = rangeToFetch(target, timeframe, wanted, this.#now());
    const key = JSON.stringify([target.symbol, target.exchange, timeframe]);
    for (let other = this.#inFlight.get(key); other !== undefined; other = this.#inFlight.get(key)) {
      const isSame = other.range.start <= range.start && other.range.end >= range.end;
      // A caller with the same wish shares the answer or the error; a caller who wants more looks again afterwards.
      if (isSame) return await waitFor(other.done, wanted.signal);
      await waitFor(other.done.catch(() => {}), wanted.signal);
      if (target.id !== undefined && await this.#isHeld(target, wanted)) return target;
    }
    const missing = await this.#findMissing(target, feed, timeframe, range);
    if (missing.length === 0) return requireInstrument(target);
    // Another caller may have begun during the look-up.
    if (this.#inFlight.has(key)) return await this.complete(target, wanted);
    wanted.beforeFetch?.();
    const done = this.#fetch(target, feed, timeframe, range, missing, wanted.attemptsMax)
      .finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, { range, done });
    return await waitFor(done, wanted.signal);
  }

  /** Fetches the candles of a query again that a split has made doubtful, lookback and finer candles included. @throws {FeedError} */
  async refresh(query: CandleQuery, signal?: AbortSignal): Promise<void> {
    const { instrument } = query;
    if (!isAdjusting(instrument)) return;
    for (let round = 1; round <= REFRESH_ROUNDS_MAX; round++) {
      const { source, doubtful } = await planRead(this.#db, query);
      if (doubtful.length === 0) return;
      for (const range of doubtful) {
        await this.complete(instrument, { timeframe: source, ...range, isExact: true, signal });
      }
    }
  }

  /**
   * Reports a damaged chunk and fetches its candles again.
   *
   * @throws {LostCandlesError} For imported or generated candles, which no provider has.
   * @throws {FeedError} The candles stay missing until a later request fetches them.
   */
  async repair(instrument: Instrument, damage: DamagedChunkError, signal?: AbortSignal): Promise<void> {
    const { chunk, message } = damage;
    const { provider, symbol, exchange } = instrument;
    const canFetch = isFed(instrument);
    // Repeated requests must not fill the list of events.
    const reported = this.#lost.get(nameOf(chunk));
    if (reported !== undefined && !canFetch) throw reported;
    const { timeframe } = chunk;
    const start = new Date(`${chunk.month}T00:00:00Z`);
    const end = new Date(monthEnd(chunk.month));
    const run = await this.#beginRun(instrument);
    const known = await this.#db.transaction(async (tx) => {
      await lockInstrument(tx, instrument.id);
      const event = { runId: run, provider, symbol, exchange, timeframe, start, end, candles: chunk.candles };
      await insertEvents(tx, [{ ...event, type: "failed", message }]);
      // Another reader may have replaced it already.
      return canFetch && await deleteChunk(tx, chunk) ? await removeCoverage(tx, chunk, { start, end }) : [];
    });
    await finishRun(this.#db, run, message);
    // Its candles are missing now, even if they were fetched a moment ago.
    this.#asked.delete(keyOf(chunk));
    if (!canFetch || !isTimeframe(timeframe)) {
      const lost = new LostCandlesError(instrument, chunk, damage);
      remember(this.#lost, nameOf(chunk), lost);
      throw lost;
    }
    const held = { start: chunk.firstTime, end: new Date(candleEnd(chunk.lastTime.getTime(), timeframe)) };
    // Exactly the ranges that were known, so that the same candles make the same chunk.
    for (const stretch of known.length > 0 ? known : [held]) {
      const [start, end] = [stretch.start.getTime(), stretch.end.getTime()];
      await this.complete(instrument, { timeframe, start, end, isExact: true, signal });
    }
  }

  /**
   * Refuses a plan with a chunk that an earlier read found damaged: the answer would break off in the middle.
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

  async #isHeld(instrument: Instrument, wanted: Wanted): Promise<boolean> {
    const { timeframe, isExact = false } = wanted;
    const coverage = await listInstrumentCoverage(this.#db, instrument.id);
    const names = isExact ? [timeframe] : TIMEFRAME_NAMES.filter((name) => canMake(instrument, name, wanted));
    return names.some((name) => {
      const range = rangeToFetch(instrument, name, wanted, this.#now());
      return subtractRanges(range, coverage.filter((each) => each.timeframe === name)).length === 0;
    });
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
    attemptsMax = this.#patience.attemptsMax,
  ): Promise<Instrument> {
    const runId = await this.#beginRun(target);
    const now = this.#now();
    try {
      const { signal } = this.#closing;
      const patience = { ...this.#patience, attemptsMax };
      const work = { runId, target, timeframe, feed, patience, signal, now };
      // Candles from before and after a split do not mix, so after a split the whole range is missing.
      const isAdjusted = await this.#isAdjusted(work);
      const { instrument } = await fetchSeries(this.#db, work, isAdjusted ? [range] : missing);
      await finishRun(this.#db, runId, null);
      remember(this.#asked, keyOf({ instrumentId: instrument?.id ?? "", timeframe }), now);
      if (instrument !== undefined) await this.#cap.touch(instrument.id);
      await this.#cap.enforce();
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

/** The name changes when the chunk is written again. */
function nameOf(chunk: ChunkSummary): string {
  return `${keyOf(chunk)} ${chunk.month} ${chunk.updatedAt.getTime()}`;
}

/** A time in the future was noted before the clock was set back, and counts as long ago. */
function isWithin(ms: number, time: number | undefined, now: number): boolean {
  return time !== undefined && time <= now && time > now - ms;
}

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(key, value);
}

/** Waits for work that goes on when this caller leaves. @throws The signal's reason once it is aborted. */
async function waitFor<Answer>(work: Promise<Answer>, signal: AbortSignal | undefined): Promise<Answer> {
  if (signal === undefined) return await work;
  const left = Promise.withResolvers<never>();
  const leave = () => left.reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return await Promise.race([work, left.promise]).finally(() => signal.removeEventListener("abort", leave));
}

function requireInstrument(target: Target): Instrument {
  if (target.id !== undefined) return target;
  throw noCandles(target);
}
