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
import { bucketStart, bucketStartAtOrAfter, isTimeframe, shortestMs, type Timeframe } from "../timeframes.ts";

const OVERLAP_CANDLES = 10;
const ABANDONED_MS = 3_600_000;

const DEFAULT_FEEDS = createFeeds();

export interface RunRequest {
  readonly trigger: IngestionRun["trigger"];
  /** Default: every instrument with a feed. */
  readonly instruments?: readonly InstrumentKey[] | undefined;
  /** `YYYY-MM-DD`; default: from each instrument's backfill start, to now. */
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
}

/** The surroundings of a run. */
interface RunOptions {
  /** Default: the feeds that need no configuration. */
  readonly feeds?: Feeds;
  /** Stops the run between two parts; stored candles stay, and a later execution continues the run. */
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970; default the clock. */
  readonly now?: number;
  /** Differences from PATIENT. */
  readonly patience?: Partial<Patience>;
}

/**
 * Writes a queued run, or returns an unfinished run with the same request.
 *
 * @param tx A transaction, in which the caller also enqueues a new run.
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
  // A database may return the keys of a JSON object in another order.
  return run.instruments?.map(({ symbol, exchange }) => ({ symbol, exchange })) ?? null;
}

function sortKeys(keys: readonly InstrumentKey[]): InstrumentKey[] {
  const byText = new Map(
    keys.map(({ symbol, exchange }) => [JSON.stringify([symbol, exchange]), { symbol, exchange }]),
  );
  return [...byText.keys()].sort().flatMap((text) => byText.get(text) ?? []);
}

/**
 * Executes a run: fetches the missing candles of each instrument and archives them. A failed instrument does not stop the others.
 *
 * A queue may deliver a run several times: a finished run is left alone, and an interrupted one continues where it stopped.
 *
 * @throws The signal's reason when it was stopped, or the error of a database that is away; the run can be executed again.
 */
export async function executeRun(db: Db, runId: string, options: RunOptions = {}): Promise<void> {
  const run = await findRun(db, runId);
  // An upload or a request without an event for an hour has lost its process.
  for (const id of await listAbandonedRuns(db, new Date(Date.now() - ABANDONED_MS))) {
    await finishRun(db, id, "its process ended before the run did");
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
      // The run continues when the database is back. A fault of the provider fails this instrument alone.
      if (isDatabaseFault(error) && !(error instanceof FeedError)) throw error;
      const message = error instanceof Error ? error.message : String(error);
      failures.push(`${target.symbol} on ${target.exchange}: ${message}`);
      await insertEvents(db, [{ runId, type: "failed", symbol: target.symbol, exchange: target.exchange, message }]);
    }
  }
  await finishRun(db, runId, failures.length === 0 ? null : failures.join("; "));
}

/** Ends an unfinished run and writes its last event. @param failure The reason why it failed, or null. */
export async function finishRun(db: Db, runId: string, failure: string | null): Promise<void> {
  await db.transaction(async (tx) => {
    const status = failure === null ? "completed" : "failed";
    const values = { status, message: failure, finishedAt: new Date() } as const;
    // A run that never began must end too, or every later run with the same request joins it.
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
  if (feed === undefined) throw new Error("Cannot ingest an instrument without a feed: its candles are imported");
  if (instrument.timeframe === null || !isTimeframe(instrument.timeframe)) {
    throw new Error(
      "Cannot ingest an instrument without a timeframe: set one, since a request for candles created it without",
    );
  }
  const timeframe = feed.sourceTimeframe(instrument.timeframe, instrument.assetClass);
  const now = options.now ?? Date.now();
  const patience = { ...PATIENT, ...options.patience };
  const work = { runId: run.id, target: instrument, timeframe, feed, patience, signal: options.signal, now };
  const wanted = runRange(run, instrument, timeframe, now);
  const isAdjusted = await isHistoryAdjusted(db, work);
  if (isAdjusted) return await fetchWhole(db, work, wanted);
  const ranges = await rangesToFetch(db, run, work, wanted);
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

async function rangesToFetch(db: Db, run: IngestionRun, work: InstrumentWork, wanted: TimeRange): Promise<TimeRange[]> {
  const { target, timeframe } = work;
  if (run.startDate !== null || run.endDate !== null) {
    // A range that an operator names is fetched even if it is stored: the provider may have corrected it.
    return subtractRanges(wanted, await listRunRanges(db, run.id, { ...keyOf(target), timeframe }));
  }
  const missing = await missingRanges(db, seriesOf(work), wanted);
  return missing.map((range) => withOverlap(range, wanted, timeframe));
}

/** Fetches an adjusted series again from its oldest stored candle, and reports candles that the provider no longer has. */
async function fetchWhole(db: Db, work: InstrumentWork, wanted: TimeRange): Promise<void> {
  const held = await heldRange(db, seriesOf(work)) ?? wanted;
  const whole = { start: Math.min(wanted.start, held.start), end: Math.max(wanted.end, held.end) };
  const { firstOpen = whole.end } = await fetchSeries(db, work, [whole]);
  if (firstOpen <= held.start) return;
  const { target: { symbol, exchange, provider }, runId, timeframe } = work;
  const message = "Cannot adjust these candles to the later ones: the provider no longer has them";
  const range = { start: new Date(held.start), end: new Date(firstOpen) };
  await insertEvents(db, [{ runId, type: "failed", provider, symbol, exchange, timeframe, ...range, message }]);
}

function keyOf({ symbol, exchange }: InstrumentKey): InstrumentKey {
  return { symbol, exchange };
}

/** Starts a range a few candles earlier: a correction of the provider shows in the overlap. */
function withOverlap(range: TimeRange, wanted: TimeRange, timeframe: Timeframe): TimeRange {
  const earlier = bucketStart(range.start - OVERLAP_CANDLES * shortestMs(timeframe), timeframe);
  return { ...range, start: Math.max(wanted.start, earlier) };
}

function runRange(run: IngestionRun, instrument: Instrument, timeframe: Timeframe, now: number): TimeRange {
  const startDate = run.startDate ?? instrument.backfillFrom;
  if (startDate === null) {
    throw new Error("Cannot ingest without a start: set start_date of the run or backfill_from of the instrument");
  }
  const endOfData = instrument.provider === "sample" ? Math.min(SAMPLE_RANGE.end, now) : now;
  const asked = run.endDate === null ? endOfData : Date.parse(`${run.endDate}T00:00:00Z`);
  return {
    start: bucketStartAtOrAfter(Date.parse(`${startDate}T00:00:00Z`), timeframe),
    end: Math.min(bucketStartAtOrAfter(asked, timeframe), bucketStart(endOfData, timeframe)),
  };
}
