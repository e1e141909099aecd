import { metrics } from "@opentelemetry/api";
import { setTimeout as pause } from "node:timers/promises";
import { hasChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { addCoverage, clearCoverage } from "../../db/coverage.ts";
import { insertEvents } from "../../db/ingestion.ts";
import { ensureInstrument, type Instrument, type NewInstrument } from "../../db/instruments.ts";
import { archiveStep } from "../archive/archive_step.ts";
import { closeBefore } from "../archive/held.ts";
import { concatCandles } from "../archive/candle_columns.ts";
import { type Feed, FeedError, type FeedPart } from "../feeds/feed.ts";
import type { TimeRange } from "../archive/time_ranges.ts";
import { bucketStart, monthEnd, monthOf, type Timeframe, TIMEFRAMES } from "../timeframes.ts";

/** What to do when a feed does not answer. */
export interface Patience {
  /** How often a range is tried without a candle arriving. */
  readonly attemptsMax: number;
  /** The longest that a feed's own limit is waited for; beyond it, or at 0, the limit is an error. */
  readonly waitMsMax: number;
  /** Waits; ends early, with the signal's reason, when that says so. */
  readonly delay: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** Ingestion has time: a provider that is down for a moment, or that limits for minutes, only slows it. */
export const PATIENT: Patience = { attemptsMax: 6, waitMsMax: 15 * 60_000, delay };
/** Someone waits for the answer. */
export const IMPATIENT: Patience = { attemptsMax: 2, waitMsMax: 0, delay };

const BACKOFF_MS = 500;

const limitWaits = metrics.getMeter("hindcast").createCounter("hindcast.provider.wait.time", {
  description: "How long ingestion has waited for providers' limits.",
  unit: "s",
});

/** An instrument that exists, or that will when its first candle arrives. */
export type Target = Instrument | (Omit<NewInstrument, "id"> & { readonly id?: undefined });

/** What to fetch and where it belongs. */
export interface SeriesWork {
  readonly runId: string;
  readonly target: Target;
  readonly timeframe: Timeframe;
  readonly feed: Feed;
  readonly patience: Patience;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Candles that are asked for only to see whether they are still the same: that they are is not told, that they are not forgets all others. */
  readonly isCheck?: boolean;
}

/** What came of it. */
export interface SeriesResult {
  /** Undefined where the instrument is new and no candle came. */
  readonly instrument: Instrument | undefined;
  /** The open of the first candle that came; undefined where none did. */
  readonly firstOpen: number | undefined;
  readonly revised: number;
  /** Held chunks that turned out to be damaged; the rest of their months is missing now. */
  readonly damaged: number;
}

/**
 * Fetches ranges of a series and archives them, a month a transaction, each with its events. What arrived before a failure is kept, and
 * the next attempt goes on behind it.
 *
 * @throws {FeedError} When patience is at its end.
 */
export async function fetchSeries(db: Db, work: SeriesWork, ranges: readonly TimeRange[]): Promise<SeriesResult> {
  const series = new SeriesFetch(db, work);
  for (const range of ranges) await series.fetchPatiently(range);
  const { instrument, firstOpen, revised, damaged } = series;
  return { instrument, firstOpen, revised, damaged };
}

class SeriesFetch {
  firstOpen: number | undefined;
  revised = 0;
  damaged = 0;
  readonly #db: Db;
  readonly #work: SeriesWork;
  #target: Target;
  #previousClose: number | undefined;
  #hasRows = false;

  constructor(db: Db, work: SeriesWork) {
    this.#db = db;
    this.#work = work;
    this.#target = work.target;
  }

  get instrument(): Instrument | undefined {
    return this.#target.id === undefined ? undefined : this.#target;
  }

  async fetchPatiently(range: TimeRange): Promise<void> {
    const { patience, signal } = this.#work;
    this.#previousClose = await this.#closeBefore(range);
    let from = range.start;
    let attempt = 1;
    let waitedMs = 0;
    for (;;) {
      const failure = await this.#fetchOnce({ start: from, end: range.end });
      signal?.throwIfAborted();
      if (failure === null) return;
      if (failure.reached > from) [from, attempt, waitedMs] = [failure.reached, 1, 0];
      const { error } = failure;
      if (error.fault === "rate_limited") {
        const waitMs = error.retryAfterSeconds * 1000;
        waitedMs += waitMs;
        if (waitedMs > patience.waitMsMax) throw error;
        await this.#tell("rate_limited", `${error.message}; going on in ${error.retryAfterSeconds} s`);
        limitWaits.add(error.retryAfterSeconds, { "hindcast.provider": this.#work.feed.name });
        await patience.delay(waitMs, signal);
      } else if (error.fault === "failed" && attempt < patience.attemptsMax) {
        // Twice as long each time, and not in step with others who failed at the same moment.
        await patience.delay(BACKOFF_MS * 2 ** attempt++ * (0.5 + Math.random() / 2), signal);
      } else throw error;
    }
  }

  /** Undefined where something is held behind the range's start: what lies between two ranges is no gap. */
  async #closeBefore(range: TimeRange): Promise<number | undefined> {
    const { timeframe, isCheck = false } = this.#work;
    const { id } = this.#target;
    return id === undefined || isCheck
      ? undefined
      : await closeBefore(this.#db, { instrumentId: id, timeframe }, range);
  }

  /** Null when all was fetched; else how far it came. Errors that are not the feed's own are thrown. */
  async #fetchOnce({ start, end }: TimeRange): Promise<{ reached: number; error: FeedError } | null> {
    const { feed, target, timeframe, signal } = this.#work;
    let parts: FeedPart[] = [];
    let reached = start;
    const store = async () => {
      await this.#store(parts);
      reached = parts.at(-1)?.end ?? reached;
      parts = [];
    };
    try {
      for await (const part of feed.fetch({ instrument: target, timeframe, start, end, ...(signal && { signal }) })) {
        const first = parts[0];
        // A month is one chunk: wait for all of it, so that each is written once however small the feed's pages are.
        if (first !== undefined && part.start >= monthEnd(monthOf(first.start))) await store();
        parts.push(part);
      }
    } catch (error) {
      if (parts.length > 0) await store();
      if (error instanceof FeedError) return { reached, error };
      throw error;
    }
    await store();
    return null;
  }

  async #store(parts: readonly FeedPart[]): Promise<void> {
    const [first, last] = [parts[0], parts.at(-1)];
    if (first === undefined || last === undefined) return;
    const candles = concatCandles(parts.map((part) => part.candles));
    const rejected = parts.reduce((sum, part) => sum + (part.rejected ?? 0), 0);
    const lastOpen = candles.time.at(-1);
    if (lastOpen === undefined && !await this.#isKnown(rejected)) return;
    const { runId, timeframe, feed, now, isCheck = false } = this.#work;
    const lastClose = lastOpen === undefined ? -Infinity : lastOpen + TIMEFRAMES[timeframe];
    const settledUntil = bucketStart(now - feed.settleMs, timeframe);
    const coveredUntil = Math.min(last.end, Math.max(lastClose, settledUntil));
    const previousClose = this.#previousClose ?? candles.time[0];
    const range = { start: first.start, end: last.end };
    await this.#db.transaction(async (tx) => {
      const instrument = this.#target.id === undefined ? await claimInstrument(tx, this.#target) : this.#target;
      const step = { runId, instrument, timeframe, candles, ...range, coveredUntil, rejected, isCheck };
      const counts = await archiveStep(tx, previousClose === undefined ? step : { ...step, previousClose });
      if (isCheck && counts.revised > 0) {
        await clearCoverage(tx, instrument.id);
        const checked = { start: new Date(range.start), end: new Date(range.end) };
        await addCoverage(tx, { instrumentId: instrument.id, timeframe }, checked);
      }
      this.firstOpen ??= candles.time[0];
      this.revised += counts.revised;
      this.damaged += counts.damaged.length;
      this.#target = instrument;
    });
    if (lastOpen !== undefined) this.#previousClose = lastClose;
  }

  /** Nothing is known of an instrument of which nothing ever came: its name may be wrong. A new one exists from its first candle on. */
  async #isKnown(rejected: number): Promise<boolean> {
    const { id } = this.#target;
    return this.#hasRows ||= id !== undefined && (rejected > 0 || await hasChunks(this.#db, id));
  }

  async #tell(type: "rate_limited", message: string): Promise<void> {
    const { runId, target: { symbol, exchange, provider }, timeframe } = this.#work;
    await insertEvents(this.#db, [{ runId, type, provider, symbol, exchange, timeframe, message }]);
  }
}

/** The instrument of a new target; no one else's candles are written over. */
async function claimInstrument(tx: Db, target: Target): Promise<Instrument> {
  const instrument = await ensureInstrument(tx, target);
  const isOurs = instrument.provider === target.provider && instrument.assetClass === target.assetClass;
  if (isOurs) return instrument;
  throw new FeedError("unknown_symbol", describeTaken(target, instrument));
}

/** A feed that answers, but has no candle of an instrument of which none is held either. */
export function noCandles({ symbol, exchange }: Pick<Target, "symbol" | "exchange">): FeedError {
  return new FeedError("unknown_symbol", `Cannot find candles of ${symbol} on ${exchange} in this range`);
}

/** Why a feed's candles cannot be kept under a name that an instrument has already. */
export function describeTaken({ symbol, exchange, assetClass, provider }: Target, taken: Instrument): string {
  return `Cannot fetch ${assetClass} ${symbol} on ${exchange} from ${provider}: ` +
    `under that name ${taken.assetClass} candles of ${taken.provider} are kept`;
}

async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // What is thrown is the signal's own reason.
  await pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
}
