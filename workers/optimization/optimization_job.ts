import { getLogger, withContext } from "@logtape/logtape";
import { z } from "zod";
import { readStorage } from "../../db/backtest_sizes.ts";
import { findUnreadable, readRecord, requireName } from "../../db/codec/unreadable.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { findUnendedOptimization, type Optimization } from "../../db/optimizations.ts";
import { DIRECTIONS, METHODS } from "../../db/schema.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { CANDLE_SETTINGS } from "../../research/candle_axes.ts";
import { pointAt } from "../../research/space.ts";
import { LEFT_TO_NEWER, requireStorage, RunError } from "../common/outcome.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import { traceStep } from "../common/telemetry.ts";
import type { TakenJob } from "../jobs/jobs.ts";
import type { PlaceRange } from "./divide.ts";
import { finish } from "./finish.ts";
import { findIn, type OptimizationServices } from "./optimization_services.ts";
import { choosePoints } from "./points.ts";
import { endOfGroup } from "./scan_slice.ts";
import { simulate } from "./simulate.ts";
import type { BegunOptimization, SliceRecords } from "./slice_records.ts";
import { beginWindows, partAt } from "./windows.ts";

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
      await attempt({ ...services, signal: limits.signal }, job, toDo, limits);
    } finally {
      unwatch();
    }
  });
}

interface JobLimits {
  /** Stops the job, for whatever reason. */
  readonly signal: AbortSignal;
  /** Aborted once the optimization has ended. */
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
  limits: JobLimits,
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
    if (signal.aborted) return await retry(signal, () => leave(records, job, limits.ended));
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
      if ("values" in axis && axis.candles !== undefined) requireName(CANDLE_SETTINGS, axis.candles, "axis of candles");
    }
    pointAt(space, 0);
  });
}

const AXIS_KEYS = ["name", "count", "first", "step", "decimals", "values", "holds", "candles"];

const retry = <Answer>(signal: AbortSignal, act: () => Promise<Answer>) => retryOnDatabaseFault(signal, act);

async function begin(
  { db, records, runner, beginnings, places, resultBytesMax }: OptimizationServices,
  job: TakenJob,
  record: Optimization,
  { signal, ended }: JobLimits,
): Promise<BegunOptimization | null> {
  requireStorage("trials", await readStorage(db, record.ownerId, resultBytesMax));
  // A user who submits many has one place for their searches, so that others begin meanwhile.
  const leaveTurn = await beginnings.take(record.ownerId);
  if (leaveTurn === null) {
    await records.giveBack(job, TURN_DELAY_SECONDS);
    return null;
  }
  const choice = await choosePoints(record, findIn(runner, signal)).finally(leaveTurn);
  if (choice === null) {
    await leave(records, job, ended);
    return null;
  }
  const { count: points, constrained } = choice;
  return await records.begin(job, record.id, { points, constrained, stretches: countStretches(record, places) });
}

/** Ends a job that was stopped: another worker does it, unless the optimization has ended. */
async function leave(records: SliceRecords, job: TakenJob, ended: AbortSignal): Promise<void> {
  await (ended.aborted ? records.drop(job) : records.giveBack(job));
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
  { signal, ended, leavePlace }: JobLimits,
): Promise<Optimization | null> {
  const { records } = services;
  const begun = performance.now();
  const part = partAt(record, from);
  const until = Math.min(end, from + countPoints(record), part.until, endOfGroup(record, from));
  let waitedMs = 0;
  const done = await simulate(services, record, { part, from, until }, { signal, onWaited: (ms) => waitedMs = ms });
  leavePlace();
  if (ended.aborted || done === null) {
    await leave(records, job, ended);
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
