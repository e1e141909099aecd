import { addCoverage, listCoverage, type SeriesKey } from "../db/coverage.ts";
import type { Db } from "../db/client.ts";
import {
  addRunCandles,
  findRun,
  type IngestionRun,
  insertEvents,
  insertRun,
  listRunsInFlight,
  lockRuns,
  moveRun,
} from "../db/ingestion.ts";
import {
  findInstrument,
  type Instrument,
  type InstrumentKey,
  listAllInstruments,
  lockInstrument,
} from "../db/instruments.ts";
import type { Candles } from "../engine/candles.ts";
import { storeCandles } from "./archive.ts";
import { concatCandles } from "./candle_columns.ts";
import { BUILTIN_FEEDS, type Feed, type FeedPart, type Feeds } from "./feeds.ts";
import type { MergeCounts } from "./merge.ts";
import { SAMPLE_RANGE } from "./feeds/sample.ts";
import { bucketStart, bucketStartAtOrAfter, isTimeframe, monthEnd, monthOf, type Timeframe } from "./timeframes.ts";

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
  readonly feeds?: Feeds;
  /** Stops the run between two parts; what was stored stays, and the run can be executed again. */
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970; default the clock. */
  readonly now?: number;
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
 * @throws The signal's reason when it was stopped.
 */
export async function executeRun(db: Db, runId: string, options: RunOptions = {}): Promise<void> {
  const run = await findRun(db, runId);
  if (run === undefined || run.status === "completed" || run.status === "failed") return;
  await db.transaction(async (tx) => {
    const isFirst = await moveRun(tx, { id: runId, from: "queued" }, { status: "running", startedAt: new Date() });
    if (isFirst) await insertEvents(tx, [{ runId, type: "run_started" }]);
  });
  const failures: string[] = [];
  for (const target of await findTargets(db, run)) {
    options.signal?.throwIfAborted();
    try {
      await ingestInstrument(db, run, target, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      failures.push(`${target.symbol} on ${target.exchange}: ${message}`);
      await insertEvents(db, [{ runId, type: "failed", symbol: target.symbol, exchange: target.exchange, message }]);
    }
  }
  await finishRun(db, runId, failures.length === 0 ? null : failures.join("; "));
}

/** Ends a running run, with its last event. @param failure Why it failed, or null. */
export async function finishRun(db: Db, runId: string, failure: string | null): Promise<void> {
  await db.transaction(async (tx) => {
    const status = failure === null ? "completed" : "failed";
    const values = { status, message: failure, finishedAt: new Date() } as const;
    if (!await moveRun(tx, { id: runId, from: "running" }, values)) return;
    const run = await findRun(tx, runId);
    await insertEvents(tx, [{ runId, type: "run_finished", candles: run?.candles ?? 0, message: failure }]);
  });
}

async function findTargets(db: Db, run: IngestionRun): Promise<(InstrumentKey & { instrument?: Instrument })[]> {
  if (run.instruments !== null) return [...run.instruments];
  const all = await listAllInstruments(db);
  return all.filter(({ timeframe }) => timeframe !== null).map((instrument) => ({
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
  const feed = (options.feeds ?? BUILTIN_FEEDS)(instrument);
  const { timeframe } = instrument;
  if (feed === undefined || timeframe === null || !isTimeframe(timeframe)) {
    throw new Error("Cannot ingest an instrument that has no feed: its candles are imported");
  }
  const wanted = runRange(run, instrument, timeframe, options.now ?? Date.now());
  const series = { instrumentId: instrument.id, timeframe };
  for (const range of await missingRanges(db, series, wanted)) {
    await ingestRange(db, { run, instrument, timeframe, feed, ...range, ...options });
  }
}

function runRange(run: IngestionRun, instrument: Instrument, timeframe: Timeframe, now: number) {
  const startDate = run.startDate ?? instrument.backfillFrom;
  if (startDate === null) {
    throw new Error("Cannot ingest without a start: neither the run nor the instrument names one");
  }
  const endOfData = instrument.provider === "sample" ? SAMPLE_RANGE.end : now;
  const asked = run.endDate === null ? endOfData : Date.parse(`${run.endDate}T00:00:00Z`);
  return {
    start: bucketStartAtOrAfter(Date.parse(`${startDate}T00:00:00Z`), timeframe),
    end: Math.min(bucketStartAtOrAfter(asked, timeframe), bucketStart(Math.min(now, endOfData), timeframe)),
  };
}

/** The parts of [start, end) of a series that were never asked for; milliseconds since 1970. */
export async function missingRanges(
  db: Db,
  series: SeriesKey,
  wanted: { readonly start: number; readonly end: number },
): Promise<{ start: number; end: number }[]> {
  const missing: { start: number; end: number }[] = [];
  let from = wanted.start;
  for (const stretch of await listCoverage(db, series)) {
    const [start, end] = [stretch.start.getTime(), stretch.end.getTime()];
    if (end <= from) continue;
    if (start >= wanted.end) break;
    if (start > from) missing.push({ start: from, end: start });
    from = end;
  }
  if (from < wanted.end) missing.push({ start: from, end: wanted.end });
  return missing;
}

interface RangeWork extends RunOptions {
  readonly run: IngestionRun;
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  readonly feed: Feed;
  readonly start: number;
  readonly end: number;
}

async function ingestRange(db: Db, work: RangeWork): Promise<void> {
  const { run, instrument, timeframe, feed, start, end, signal } = work;
  const store = (parts: readonly FeedPart[]) => storeParts(db, { runId: run.id, instrument, timeframe, parts });
  let parts: FeedPart[] = [];
  try {
    for await (const part of feed.fetch({ instrument, timeframe, start, end, ...(signal && { signal }) })) {
      const pending = parts[0];
      // A month is one chunk: wait for all of it, so that each is written once however small the feed's pages are.
      if (pending !== undefined && part.start >= monthEnd(monthOf(pending.start))) {
        await store(parts);
        parts = [];
      }
      parts.push(part);
    }
  } finally {
    // What arrived before a failure is kept: the next attempt goes on behind it.
    await store(parts);
  }
}

async function storeParts(
  db: Db,
  step: { runId: string; instrument: Instrument; timeframe: Timeframe; parts: readonly FeedPart[] },
): Promise<void> {
  const [first, last] = [step.parts[0], step.parts.at(-1)];
  if (first === undefined || last === undefined) return;
  const { runId, instrument, timeframe } = step;
  const candles = concatCandles(step.parts.map((part) => part.candles));
  await db.transaction((tx) =>
    archiveStep(tx, { runId, instrument, timeframe, candles, start: first.start, end: last.end, isWhole: true })
  );
}

/** One step of a run: candles, what they cover, and the events that tell of them. */
export interface ArchiveStep {
  readonly runId: string;
  readonly instrument: Instrument;
  readonly timeframe: Timeframe;
  readonly candles: Candles;
  /** The step's [start, end), milliseconds since 1970. */
  readonly start: number;
  readonly end: number;
  /** Whether all there is in [start, end) is among the candles, so that nobody needs to ask for it again. */
  readonly isWhole: boolean;
}

/** Archives a step: all of it in the given transaction, or nothing. */
export async function archiveStep(tx: Db, step: ArchiveStep): Promise<MergeCounts> {
  const { runId, instrument, timeframe, candles } = step;
  const series = { instrumentId: instrument.id, timeframe };
  const stretch = { start: new Date(step.start), end: new Date(step.end) };
  await lockInstrument(tx, instrument.id);
  const counts = await storeCandles(tx, series, candles);
  if (step.isWhole) await addCoverage(tx, series, stretch);
  const { provider, symbol, exchange } = instrument;
  const event = { runId, provider, symbol, exchange, timeframe, ...stretch };
  await insertEvents(tx, [
    { ...event, type: "range_ingested", candles: candles.time.length },
    ...(counts.revised === 0 ? [] : [{ ...event, type: "revised" as const, candles: counts.revised }]),
  ]);
  await addRunCandles(tx, runId, counts.imported + counts.revised);
  return counts;
}
