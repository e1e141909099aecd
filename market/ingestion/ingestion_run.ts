import { hasChunks } from "../../db/candle_chunks.ts";
import type { SeriesKey } from "../../db/coverage.ts";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import {
  findRun,
  type IngestionRun,
  insertEvents,
  insertRun,
  listAbandonedRuns,
  listRunRanges,
  listRunsInFlight,
  lockRuns,
  moveRun,
} from "../../db/ingestion.ts";
import { findInstrument, type Instrument, type InstrumentKey, listIngestedInstruments } from "../../db/instruments.ts";
import { isHistoryAdjusted } from "./adjusted_history.ts";
import { heldRange, missingRanges } from "../archive/held.ts";
import { FeedError, type Feeds } from "../feeds/feed.ts";
import { SAMPLE_RANGE } from "../feeds/sample.ts";
import { fetchSeries, noCandles, type Patience, PATIENT, type SeriesWork } from "./fetch_series.ts";
import { createFeeds } from "../feeds/registry.ts";
import { subtractRanges, type TimeRange } from "../archive/time_ranges.ts";
import { bucketStart, bucketStartAtOrAfter, isTimeframe, type Timeframe, TIMEFRAMES } from "../timeframes.ts";

const OVERLAP_CANDLES = 10;
const ABANDONED_MS = 3_600_000;

const DEFAULT_FEEDS = createFeeds();

/** What a run is asked to fetch. */
export interface RunRequest {
  readonly trigger: IngestionRun["trigger"];
  /** Absent: every instrument that has a feed. */
  readonly instruments?: readonly InstrumentKey[] | undefined;
  /** `YYYY-MM-DD`; absent: from each instrument's backfill start, to now. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** Where the work of a run comes from and when it ends. */
export interface RunOptions {
  /** Default: those that need no configuration. */
  readonly feeds?: Feeds;
  /** Stops the run between two parts; what was stored stays, and the run can be executed again. */
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970; default the clock. */
  readonly now?: number;
  /** What differs from PATIENT. */
  readonly patience?: Partial<Patience>;
}

/**
 * Writes a queued run, or joins one in flight that was asked for the same.
 *
 * @param tx A transaction, in which the caller also enqueues a run that is not joined.
 */
export async function createRun(tx: Db, request: RunRequest): Promise<{ run: IngestionRun; joined: boolean }> {
  await lockRuns(tx);
  const instruments = request.instruments === undefined ? null : sortKeys(request.instruments);
  const wanted = JSON.stringify([instruments, request.startDate ?? null, request.endDate ?? null]);
  const inFlight = await listRunsInFlight(tx);
  const same = inFlight.find((run) => JSON.stringify([keysOf(run), run.startDate, run.endDate]) === wanted);
  if (same !== undefined) return { run: same, joined: true };
  const run = await insertRun(tx, {
    status: "queued",
    trigger: request.trigger,
    instruments,
    startDate: request.startDate ?? null,
    endDate: request.endDate ?? null,
  });
  return { run, joined: false };
}

function keysOf(run: IngestionRun): InstrumentKey[] | null {
  // A database may give the keys of a JSON object in another order.
  return run.instruments?.map(({ symbol, exchange }) => ({ symbol, exchange })) ?? null;
}

function sortKeys(keys: readonly InstrumentKey[]): InstrumentKey[] {
  const byText = new Map(
    keys.map(({ symbol, exchange }) => [JSON.stringify([symbol, exchange]), { symbol, exchange }]),
  );
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []);
}

/**
 * Does a run: fetches what is missing of each instrument and archives it. One that fails does not keep the others from theirs.
 *
 * A run that has ended is left alone and one that was cut off goes on where it stopped, so that a queue may deliver it again.
 *
 * @throws The signal's reason when it was stopped, or what the database said that is away; both times it can be executed again.
 */
export async function executeRun(db: Db, runId: string, options: RunOptions = {}): Promise<void> {
  const run = await findRun(db, runId);
  // An upload or a request that told of nothing for an hour has lost its process.
  for (const id of await listAbandonedRuns(db, new Date(Date.now() - ABANDONED_MS))) {
    await finishRun(db, id, "its process ended before it did");
  }
  if (run === undefined || run.status === "completed" || run.status === "failed") return;
  await db.transaction(async (tx) => {
    const isFirst = await moveRun(tx, { id: runId, from: ["queued"] }, { status: "running", startedAt: new Date() });
    if (isFirst) await insertEvents(tx, [{ runId, type: "run_started" }]);
  });
  const failures: string[] = [];
  for (const target of await findTargets(db, run)) {
    options.signal?.throwIfAborted();
    try {
      await ingestInstrument(db, run, target, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      // The run goes on where it was when the database is back; the provider's faults are its own.
      if (isDatabaseFault(error) && !(error instanceof FeedError)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      failures.push(`${target.symbol} on ${target.exchange}: ${message}`);
      await insertEvents(db, [{ runId, type: "failed", symbol: target.symbol, exchange: target.exchange, message }]);
    }
  }
  await finishRun(db, runId, failures.length === 0 ? null : failures.join("; "));
}

/** Ends a run that has not ended, with its last event. @param failure Why it failed, or null. */
export async function finishRun(db: Db, runId: string, failure: string | null): Promise<void> {
  await db.transaction(async (tx) => {
    const status = failure === null ? "completed" : "failed";
    const values = { status, message: failure, finishedAt: new Date() } as const;
    // One that nobody could even begin is over, too, or later runs of the same would be joined to it for ever.
    if (!await moveRun(tx, { id: runId, from: ["queued", "running"] }, values)) return;
    const run = await findRun(tx, runId);
    await insertEvents(tx, [{ runId, type: "run_finished", candles: run?.candles ?? 0, message: failure }]);
  });
}

async function findTargets(db: Db, run: IngestionRun): Promise<(InstrumentKey & { instrument?: Instrument })[]> {
  if (run.instruments !== null) return [...run.instruments];
  return (await listIngestedInstruments(db)).map((instrument) => ({
    symbol: instrument.symbol,
    exchange: instrument.exchange,
    instrument,
  }));
}

async function ingestInstrument(
  db: Db,
  run: IngestionRun,
  target: InstrumentKey & { instrument?: Instrument },
  options: RunOptions,
): Promise<void> {
  const instrument = target.instrument ?? await findInstrument(db, target);
  if (instrument === undefined) throw new Error("Cannot ingest an instrument that does not exist");
  const feed = (options.feeds ?? DEFAULT_FEEDS)(instrument);
  if (feed === undefined) throw new Error("Cannot ingest an instrument that has no feed: its candles are imported");
  if (instrument.timeframe === null || !isTimeframe(instrument.timeframe)) {
    throw new Error("Cannot ingest an instrument without a timeframe, which is to be set: it came by a request");
  }
  const timeframe = feed.sourceTimeframe(instrument.timeframe);
  const now = options.now ?? Date.now();
  const patience = { ...PATIENT, ...options.patience };
  const work = { runId: run.id, target: instrument, timeframe, feed, patience, signal: options.signal, now };
  const wanted = runRange(run, instrument, timeframe, now);
  const isAdjusted = await isHistoryAdjusted(db, work);
  if (isAdjusted) return await fetchWhole(db, work, wanted);
  const ranges = await askedRanges(db, run, work, wanted);
  const { revised, damaged } = await fetchSeries(db, work, ranges);
  if (ranges.length > 0 && !await hasChunks(db, instrument.id)) throw noCandles(instrument);
  if (isAdjusted === null && revised > 0) return await fetchWhole(db, work, wanted);
  if (damaged > 0) await fetchSeries(db, work, await missingRanges(db, seriesOf(work), wanted));
}

/** Work on an instrument that exists. */
type InstrumentWork = SeriesWork & { readonly target: Instrument };

function seriesOf({ target, timeframe }: InstrumentWork): SeriesKey {
  return { instrumentId: target.id, timeframe };
}

/** What a run asks the feed for. */
async function askedRanges(db: Db, run: IngestionRun, work: InstrumentWork, wanted: TimeRange): Promise<TimeRange[]> {
  const { target, timeframe } = work;
  if (run.startDate !== null || run.endDate !== null) {
    // Dates that an operator names are asked for even if they are held: the provider may have corrected them.
    return subtractRanges(wanted, await listRunRanges(db, run.id, { ...keyOf(target), timeframe }));
  }
  const missing = await missingRanges(db, seriesOf(work), wanted);
  return missing.map((range) => withOverlap(range, wanted, timeframe));
}

/** All of an adjusted series again, from the oldest candle that is held; what the provider does not give any more is told. */
async function fetchWhole(db: Db, work: InstrumentWork, wanted: TimeRange): Promise<void> {
  const held = await heldRange(db, seriesOf(work)) ?? wanted;
  const whole = { start: Math.min(wanted.start, held.start), end: Math.max(wanted.end, held.end) };
  const { firstOpen = whole.end } = await fetchSeries(db, work, [whole]);
  if (firstOpen <= held.start) return;
  const { target: { symbol, exchange, provider }, runId, timeframe } = work;
  const message = "Cannot adjust these candles to the later ones: the provider does not give them any more";
  const range = { start: new Date(held.start), end: new Date(firstOpen) };
  await insertEvents(db, [{ runId, type: "failed", provider, symbol, exchange, timeframe, ...range, message }]);
}

function keyOf({ symbol, exchange }: InstrumentKey): InstrumentKey {
  return { symbol, exchange };
}

/** A range that follows held candles begins a few of them earlier: a provider that corrected its history shows there. */
function withOverlap(range: TimeRange, wanted: TimeRange, timeframe: Timeframe): TimeRange {
  return { ...range, start: Math.max(wanted.start, range.start - OVERLAP_CANDLES * TIMEFRAMES[timeframe]) };
}

function runRange(run: IngestionRun, instrument: Instrument, timeframe: Timeframe, now: number): TimeRange {
  const startDate = run.startDate ?? instrument.backfillFrom;
  if (startDate === null) {
    throw new Error("Cannot ingest without a start: neither the run nor the instrument names one");
  }
  const endOfData = instrument.provider === "sample" ? Math.min(SAMPLE_RANGE.end, now) : now;
  const asked = run.endDate === null ? endOfData : Date.parse(`${run.endDate}T00:00:00Z`);
  return {
    start: bucketStartAtOrAfter(Date.parse(`${startDate}T00:00:00Z`), timeframe),
    end: Math.min(bucketStartAtOrAfter(asked, timeframe), bucketStart(endOfData, timeframe)),
  };
}
