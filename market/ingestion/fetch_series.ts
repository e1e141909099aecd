import { setTimeout as pause } from "node:timers/promises";
import { hasChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { addCoverage, clearCoverage } from "../../db/coverage.ts";
import { insertEvents } from "../../db/ingestion.ts";
import { ensureInstrument, type Instrument, type NewInstrument } from "../../db/instruments.ts";
import { archiveStep } from "./archive_step.ts";
import { closeBefore } from "../archive/held.ts";
import { concatCandles } from "../archive/candle_columns.ts";
import { type Feed, FeedError, type FeedPart } from "../feeds/feed.ts";
import { countWait } from "../feeds/provider_metrics.ts";
import type { TimeRange } from "../archive/time_ranges.ts";
import { bucketStart, candleEnd, monthEnd, monthOf, type Timeframe } from "../timeframes.ts";

/** How long to wait for a feed that does not answer. */
export interface Patience {
  /** Attempts without a new candle before the range fails. */
  readonly attemptsMax: number;
  /** The longest wait for a feed's limit; a longer one is an error. */
  readonly waitMsMax: number;
  /** Waits; throws the signal's reason when the signal aborts. */
  readonly delay: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** For ingestion: a provider that is down or limited for minutes only slows it. */
export const PATIENT: Patience = { attemptsMax: 6, waitMsMax: 15 * 60_000, delay };
/** For a request whose caller waits for the answer. */
export const IMPATIENT: Patience = { attemptsMax: 2, waitMsMax: 0, delay };

const BACKOFF_MS = 500;

/** An instrument that exists, or a new one that its first candle creates. */
export type Target = Instrument | (Omit<NewInstrument, "id"> & { readonly id?: undefined });

/** A series to fetch, and the run that reports it. */
export interface SeriesWork {
  readonly runId: string;
  readonly target: Target;
  readonly timeframe: Timeframe;
  readonly feed: Feed;
  readonly patience: Patience;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** True if to fetch only to compare: equal candles make no event, and changed ones clear the coverage of the instrument. */
  readonly isCheck?: boolean;
}

/** The outcome of a fetch. */
interface SeriesResult {
  /** Undefined where the instrument is new and no candle arrived. */
  readonly instrument: Instrument | undefined;
  /** The open of the first candle that arrived; undefined where none did. */
  readonly firstOpen: number | undefined;
  readonly revised: number;
  /** Stored chunks that were damaged; the rest of their months is missing now. */
  readonly damaged: number;
}

/**
 * Fetches ranges of a series and archives each month with its events in one transaction. Candles that arrived before a failure are kept,
 * and the next attempt continues after them.
 *
 * @throws {FeedError} When the attempts or the waiting time of `work.patience` are used up.
 */
export async function fetchSeries(db: Db, work: SeriesWork, ranges: readonly TimeRange[]): Promise<SeriesResult> {
  const series = new SeriesFetch(db, work);
  for (const range of ranges) await series.fetchWithRetries(range);
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

  async fetchWithRetries(range: TimeRange): Promise<void> {
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
        await this.#report("rate_limited", `${error.message}; ingestion continues in ${error.retryAfterSeconds} s`);
        countWait(this.#work.feed.name, error.retryAfterSeconds);
        await patience.delay(waitMs, signal);
      } else if (error.fault === "failed" && attempt < patience.attemptsMax) {
        // The wait doubles each time; the random part separates fetches that failed together.
        await patience.delay(BACKOFF_MS * 2 ** attempt++ * (0.5 + Math.random() / 2), signal);
      } else throw error;
    }
  }

  /** Undefined where a stored candle follows the range's start: the time between two ranges is no gap. */
  async #closeBefore(range: TimeRange): Promise<number | undefined> {
    const { timeframe, isCheck = false } = this.#work;
    const { id } = this.#target;
    return id === undefined || isCheck
      ? undefined
      : await closeBefore(this.#db, { instrumentId: id, timeframe }, range);
  }

  /** Null after the whole range, or the time that was reached and the feed's error. Throws every other error. */
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
        // A month is one chunk: collect it, so that small pages of a feed do not write it several times.
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
    const lastClose = lastOpen === undefined ? -Infinity : candleEnd(lastOpen, timeframe);
    const settledUntil = bucketStart(now - feed.settleMs, timeframe);
    const coveredUntil = Math.min(last.end, Math.max(lastClose, settledUntil));
    const previousClose = this.#previousClose ?? candles.time[0];
    const range = { start: first.start, end: last.end };
    await this.#db.transaction(async (tx) => {
      const instrument = this.#target.id === undefined
        ? await claimInstrument(tx, this.#target, this.#work.feed)
        : this.#target;
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

  /** An empty answer proves nothing about an instrument without any candle: its name may be wrong. */
  async #isKnown(rejected: number): Promise<boolean> {
    const { id } = this.#target;
    return this.#hasRows ||= id !== undefined && (rejected > 0 || await hasChunks(this.#db, id));
  }

  async #report(type: "rate_limited", message: string): Promise<void> {
    const { runId, target: { symbol, exchange, provider }, timeframe } = this.#work;
    await insertEvents(this.#db, [{ runId, type, provider, symbol, exchange, timeframe, message }]);
  }
}

/** Creates the instrument of a new target, unless its name belongs to other candles. */
async function claimInstrument(tx: Db, target: Target, feed: Feed): Promise<Instrument> {
  const currency = target.currency ?? feed.currencyOf?.(target) ?? null;
  const instrument = await ensureInstrument(tx, { ...target, currency });
  const isOurs = instrument.provider === target.provider && instrument.assetClass === target.assetClass;
  if (isOurs) return instrument;
  throw new FeedError("unknown_symbol", describeTaken(target, instrument));
}

/** The error for an instrument without a candle, at the feed and in the archive. */
export function noCandles({ symbol, exchange }: Pick<Target, "symbol" | "exchange">): FeedError {
  return new FeedError("unknown_symbol", `Cannot find candles of ${symbol} on ${exchange} in this range`);
}

/** The reason why a feed's candles cannot use a name that an instrument has already. */
export function describeTaken({ symbol, exchange, assetClass, provider }: Target, taken: Instrument): string {
  return `Cannot fetch ${assetClass} ${symbol} on ${exchange} from ${provider}: ` +
    `that name holds ${taken.assetClass} candles of ${taken.provider}`;
}

async function delay(ms: number, signal: AbortSignal | undefined): Promise<void> {
  // The caller expects the signal's own reason.
  await pause(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted());
}
