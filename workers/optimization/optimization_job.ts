import { getLogger, withContext } from "@logtape/logtape";
import { z } from "zod";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { findUnreadable, readRecord, requireName } from "../../db/codec/unreadable.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { DIRECTIONS, METHODS } from "../../db/schema.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { withPeriodsPerYear } from "../../engine/execution.ts";
import { pointAt } from "../../research/space.ts";
import { fixedMs } from "../../market/timeframes.ts";
import { findUnendedOptimization, type Optimization } from "../../db/optimizations.ts";
import { readSettings } from "../backtest/run_settings.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import { LEFT_TO_NEWER, RunError } from "../common/outcome.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import { traceStep } from "../common/telemetry.ts";
import type { RunCarry } from "./carried_tests.ts";
import { readHolding, readTrials } from "./luck.ts";
import { listGuided } from "./guided_points.ts";
import { choosePoints, type FindPoints, listStretch, listTest, pointsOf } from "./points.ts";
import type { PlaceRange } from "./divide.ts";
import type { OwnerTurns } from "./owner_turns.ts";
import { planSlice, rulesOf } from "./slice_plan.ts";
import type { BegunOptimization, SliceRecords } from "./slice_records.ts";
import { encodeFailed, type Simulated, toResult } from "./slice_result.ts";
import type { SliceRunner } from "./slice_runner.ts";
import { walkAccount } from "./walked_account.ts";
import { beginWindows, type Part, partAt } from "./windows.ts";

const log = getLogger(["hindcast", "queue"]);

// Points that a slice looks at, and bytes of their parameters: to list them takes time and memory, too.
const POINTS_MAX = 8192;
const PARAMETERS_BYTES_MAX = 8 * 2 ** 20;
// Jobs at the beginning, for each place of this process; long ones are divided later.
const STRETCHES_PER_PLACE = 2;
// How long an optimization waits while its owner's last one begins.
const TURN_DELAY_SECONDS = 1;

const jobSchema = z.object({
  optimizationId: z.uuid(),
  stretch: z.object({ from: z.int(), until: z.int() }).optional(),
  isEnd: z.boolean().optional(),
});

/** The services of optimizations. */
export interface OptimizationServices extends CandleServices {
  readonly jobs: Jobs;
  readonly records: SliceRecords;
  readonly runner: SliceRunner;
  /** Searches for the points of optimizations that begin. */
  readonly beginnings: OwnerTurns;
  /** Computing time of a trial. */
  readonly deadlineMs: number;
  /** Trials that compute at once in this process. */
  readonly places: number;
  /** Bytes that the results of one user may occupy. */
  readonly resultBytesMax: number;
}

/**
 * Executes a job of an optimization: its beginning, a slice of its points, or its end. The beginning goes on with the first slice, and
 * the last slice with the end.
 *
 * @param leavePlace Called when the job has computed a slice.
 * @throws {Error} The database's error when the job cannot be ended: the heartbeat lapses, and another worker takes it.
 */
export async function runOptimizationJob(
  services: OptimizationServices,
  job: TakenJob,
  signal: AbortSignal,
  leavePlace: () => void,
): Promise<void> {
  const { db, records } = services;
  const { optimizationId: id, stretch, isEnd = false } = jobSchema.parse(job.data);
  await withContext({ optimization_id: id }, async () => {
    const { ended, unwatch } = await watchEnd(services, id);
    try {
      const record = await retryOnDatabaseFault(signal, () => findUnendedOptimization(db, id));
      if (record === null) return await records.drop(job);
      const limits = { signal: AbortSignal.any([signal, ended]), ended, leavePlace };
      const toDo = { record, stretch, isEnd };
      await attempt(services, job, toDo, limits);
    } finally {
      unwatch();
    }
  });
}

interface SliceLimits {
  /** Stops the job, for whatever reason. */
  readonly signal: AbortSignal;
  /** Its optimization has ended. */
  readonly ended: AbortSignal;
  readonly leavePlace: () => void;
}

/** A signal that an optimization has ended or is gone. */
async function watchEnd({ db, jobs }: OptimizationServices, id: string) {
  const ended = new AbortController();
  const unwatch = await jobs.changes.subscribe(`end ${id}`, () => {
    // A fault of the database is for whoever stores the slice.
    void findUnendedOptimization(db, id).then((now) => now === null && ended.abort(), () => {});
  });
  return { ended: ended.signal, unwatch };
}

async function attempt(
  services: OptimizationServices,
  job: TakenJob,
  { record, stretch, isEnd }: { record: Optimization; stretch?: PlaceRange | undefined; isEnd: boolean },
  limits: SliceLimits,
): Promise<void> {
  const { records } = services;
  const { signal } = limits;
  try {
    requireReadable(record);
    const begun = isEnd
      ? null
      : stretch === undefined
      ? await begin(services, job, record, limits)
      : { record, stretch };
    const done = begun === null ? null : await runSlice(services, job, begun, limits);
    const ended = isEnd ? record : done;
    if (ended !== null) await finish(services, job, ended, signal);
  } catch (error) {
    const unreadable = findUnreadable(error);
    if (unreadable !== undefined) {
      log.warn("Leaving the optimization to a newer build: {reason}", { reason: unreadable.message });
      return await retry(signal, () => records.giveBack(job, LEFT_TO_NEWER.delaySeconds));
    }
    if (error instanceof RunError) return await retry(signal, () => records.fail(job, record, error.outcome));
    if (isDatabaseFault(error)) return await retry(signal, () => records.giveBack(job));
    log.error("A slice broke: {error}", { error });
    await retry(signal, () => records.break(job));
  }
}

/** @throws {UnreadableRecord} For a search that this build would not make as it is meant. */
function requireReadable({ id, method, direction, objective, space }: Optimization): void {
  readRecord(`optimization ${id}`, () => {
    requireName(METHODS, method, "method");
    requireName(DIRECTIONS, direction, "direction");
    requireName(NUMERIC_METRIC_NAMES, objective, "objective");
    for (const axis of space.axes) {
      for (const key of Object.keys(axis)) requireName(AXIS_KEYS, key, "key of an axis");
    }
    pointAt(space, 0);
  });
}

const AXIS_KEYS = ["name", "count", "first", "step", "decimals", "values"];

const retry = <Answer>(signal: AbortSignal, act: () => Promise<Answer>) => retryOnDatabaseFault(signal, act);

async function begin(
  { db, records, runner, beginnings, places, resultBytesMax }: OptimizationServices,
  job: TakenJob,
  record: Optimization,
  { signal, ended }: SliceLimits,
): Promise<BegunOptimization | null> {
  if (await measureBacktests(db, record.ownerId) > resultBytesMax) {
    throw new RunError(
      "QUOTA_EXCEEDED",
      "Cannot store trials: your backtests and optimizations are over the storage quota; delete some of them",
    );
  }
  // A user who submits many has one place for their searches, so that others begin meanwhile.
  const leaveTurn = await beginnings.take(record.ownerId);
  if (leaveTurn === null) {
    await records.giveBack(job, TURN_DELAY_SECONDS);
    return null;
  }
  const choice = await choosePoints(record, findIn(runner, signal)).finally(leaveTurn);
  if (choice === null) {
    await (ended.aborted ? records.drop(job) : records.giveBack(job));
    return null;
  }
  const { count: points, constrained } = choice;
  return await records.begin(job, record.id, { points, constrained, stretches: countStretches(record, places) });
}

function findIn(runner: SliceRunner, signal: AbortSignal): FindPoints {
  return async (task) => pointsOf(await traceStep("find points", () => runner.findPoints(task, signal)));
}

function countStretches(record: Optimization, places: number): number {
  // An endpoint gets one trial at a time.
  if (record.runtime?.type === "remote") return 1;
  // Each round of a guided search needs the one before it: a stretch a part.
  if (record.method === "tpe") return 1 + beginWindows(record).length;
  // Code of users begins each slice in a new process, which runs its first trials slowly.
  if (record.runtime !== null) return places;
  return places * STRETCHES_PER_PLACE;
}

/** @returns The record if all slices are done: the job goes on with the end. Else null, and the job has ended. */
async function runSlice(
  services: OptimizationServices,
  job: TakenJob,
  { record, stretch: { from, until: end } }: BegunOptimization,
  { signal, ended, leavePlace }: SliceLimits,
): Promise<Optimization | null> {
  const { records } = services;
  const begun = performance.now();
  const part = partAt(record, from);
  const until = Math.min(end, from + countPoints(record), part.until);
  let waitedMs = 0;
  const done = await simulate(services, record, { part, from, until }, { signal, onWaited: (ms) => waitedMs = ms });
  leavePlace();
  if (ended.aborted || done === null) {
    await (ended.aborted ? records.drop(job) : records.giveBack(job));
    return null;
  }
  const slice = { ...done, part, end, durationMs: performance.now() - begun - waitedMs };
  return await traceStep("store", () => retry(signal, () => records.store(job, record.id, slice)));
}

/** Most points of a slice. */
function countPoints({ parameters, space }: Optimization): number {
  const bytes = JSON.stringify([parameters, pointAt(space, 0)]).length;
  return Math.max(1, Math.min(POINTS_MAX, Math.floor(PARAMETERS_BYTES_MAX / bytes)));
}

/**
 * Runs places of one part, as many as there is time for.
 *
 * @param watcher `onWaited`: told how long a slice that is held in advance waited for another to end.
 * @returns Null where it was stopped.
 * @throws {RunError} When no trial of the whole range can run; a window keeps such an error.
 */
async function simulate(
  services: OptimizationServices,
  record: Optimization,
  { part, from, until }: { readonly part: Part; readonly from: number; readonly until: number },
  { signal, onWaited }: { readonly signal: AbortSignal; readonly onWaited: (ms: number) => void },
): Promise<Simulated | null> {
  const { runner, deadlineMs } = services;
  const settings = readSettings(record);
  const rules = rulesOf(record, settings);
  const range = { from: from - part.first, until: until - part.first };
  const find = findIn(runner, signal);
  const stretch = part.kind === "test"
    ? await listTest(record, rules, record.windows[part.window ?? 0]?.best?.point, find)
    : record.method === "tpe"
    ? await listGuided(services.db, record, rules, { part, ...range }, find)
    : await listStretch(record, rules, range, find);
  if (stretch === null || signal.aborted) return null;
  try {
    const plan = stretch.trials.length === 0
      ? null
      : await traceStep("load candles", () => planSlice(services, record, settings, stretch, part));
    const reload = (lookback: number) => planSlice(services, record, settings, stretch, part, lookback);
    const asked = performance.now();
    const limits = { deadlineMs, signal, onBegin: () => onWaited(performance.now() - asked) };
    const outcome = plan === null ? null : await traceStep("simulate", () => runner.run(record, plan, limits, reload));
    if (outcome?.type === "stopped") return null;
    if (outcome?.type === "broken") throw new Error(outcome.message);
    const result = toResult(stretch, plan, outcome);
    return { ...result, from, until: part.first + result.until, error: null };
  } catch (error) {
    if (!(error instanceof RunError) || part.kind === "range") throw error;
    const { code, message } = error.outcome;
    const none = encodeFailed(undefined, null);
    return { from, until, constrained: 0, refused: 0, trials: none, dataSha256: null, error: { code, message } };
  }
}

async function finish(
  services: OptimizationServices,
  job: TakenJob,
  record: Optimization,
  signal: AbortSignal,
): Promise<void> {
  const { db, candles, records, runner, deadlineMs } = services;
  const { timeframe, execution } = readSettings(record);
  const instrument = await candles.findInstrument(record);
  const { periodsPerYear, riskFreeRate } = withPeriodsPerYear(
    execution,
    instrument?.assetClass ?? null,
    fixedMs(timeframe),
  );
  const rates = { periodsPerYear: periodsPerYear ?? NaN, riskFreeRate };
  const benchmark = await traceStep("load candles", () => readHolding(services, record));
  const trials = await traceStep("read trials", () => readTrials(db, record, { ...rates, benchmark }, signal));
  if (signal.aborted) return await records.giveBack(job);
  const outcome = trials === null ? null : await traceStep("measure luck", () => runner.measureLuck(trials, signal));
  if (outcome?.type === "stopped") return await records.giveBack(job);
  if (outcome?.type === "broken") throw new Error(outcome.message);
  const report = outcome?.type === "completed" ? { overfitting: outcome.overfitting, luck: outcome.luck } : null;
  const carry: RunCarry = (task) => runner.carry(task, { deadlineMs, signal });
  const find = findIn(runner, signal);
  const outOfSample = await traceStep("walk", () => walkAccount(services, record, rates, { find, carry }));
  if (signal.aborted) return await records.giveBack(job);
  await retry(signal, () => records.complete(job, record.id, { report, outOfSample }));
}
