import type { CandleServices } from "../backtest/run_candles.ts";
import { traceStep } from "../common/telemetry.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { OwnerTurns } from "./owner_turns.ts";
import { type FindPoints, pointsOf } from "./points.ts";
import type { SliceRecords } from "./slice_records.ts";
import type { SliceRunner } from "./slice_runner.ts";

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

/** The search for points in a thread of this process. */
export function findIn(runner: SliceRunner, signal: AbortSignal): FindPoints {
  return async (task) => pointsOf(await traceStep("find points", () => runner.findPoints(task, signal)));
}
