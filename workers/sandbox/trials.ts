/** Trials of a user's code, one after the other. */
import { BufferPool } from "../../engine/buffer_pool.ts";
import type { Execution } from "../../engine/execution.ts";
import { measureTrial } from "../../engine/run.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { Strategy } from "../../engine/strategy.ts";
import { WARMUP_MAX } from "./contracts/abi.ts";
import type { FromChild, LookbackRequest, TrialOutcome } from "./task.ts";
import type { AnyTrialsRun, TrialsRun } from "./trials_task.ts";
import { measureCarried } from "./carried_trial.ts";
import { LookbackCutter } from "./trial_candles.ts";

// A longer lookback is likely to follow, and to ask again takes the time of some trials.
const LOOKBACK_GROWTH = 2;
/** Memory that each trial takes over from the one before: the columns of a few years of minutes. */
const POOL_BYTES_MAX = 1 << 26;

/** Makes an instance of the strategy for a range, told how many candles precede it, and how many were wanted. @throws {RunError} */
export type MakeTrialStrategy = (parametersJson: string, firstIndex: number, lookback: number) => Strategy;

/** Learns of trials, or of paths. */
export interface TrialListener {
  /** Control words, in shared memory, for the progress of each. */
  readonly control: Int32Array;
  /** Gets the outcomes in their order. */
  readonly report: (message: FromChild<object>) => void;
  /** Runs each of them, and may run it again. Absent: once. */
  readonly attempt?: <Result>(run: () => Result) => Result;
}

/** The strategy does not take these parameters. */
export class PointRefused extends Error {
  override readonly name = "PointRefused";
}

/** One of the trials of a job. */
export interface Trial {
  readonly parametersJson: string;
  readonly execution: Execution;
}

/** Memory that the trials of a job share. */
export interface TrialsShared {
  readonly control: Int32Array;
  readonly pool: BufferPool;
}

/**
 * Runs trials over one market until their time is used up, and reports each as it ends.
 *
 * @returns As runEach().
 */
export function runTrials(
  job: TrialsRun,
  make: MakeTrialStrategy,
  listener: TrialListener,
): Outcome<object> | LookbackRequest {
  const cutter = new LookbackCutter(job.task);
  return runEach(job, (trial, shared) => measure(job, trial, make, { cutter, ...shared }), listener);
}

/**
 * Runs trials until their time is used up, and reports each as it ends.
 *
 * @param run Runs one of them. @throws {PointRefused} {RunError}
 * @returns A request for more candles; the job that answers it goes on with the trial that needs them.
 */
export function runEach(
  job: AnyTrialsRun,
  run: (trial: Trial, shared: TrialsShared) => TrialOutcome | LookbackRequest,
  { control, report, attempt = (trial) => trial() }: TrialListener,
): Outcome<object> | LookbackRequest {
  const until = performance.now() + job.budgetMs;
  const pool = new BufferPool(POOL_BYTES_MAX);
  let returnsCount = 0;
  for (const [i, parametersJson] of job.parametersJson.entries()) {
    if (i > 0 && (performance.now() >= until || returnsCount >= job.returnsMax)) break;
    const execution = job.executions?.[i] ?? job.task.execution;
    const outcome = attempt(() => orItsError(() => run({ parametersJson, execution }, { control, pool })));
    // No column of a result outlives its trial.
    pool.reclaim();
    if (outcome.type === "completed") returnsCount += outcome.dailyReturns.length;
    if (outcome.type !== "lookback") report({ type: "trial", outcome });
    else if (job.canReload) return outcome;
    else break;
  }
  return { type: "completed" };
}

function orItsError(run: () => TrialOutcome | LookbackRequest): TrialOutcome | LookbackRequest {
  try {
    return run();
  } catch (error) {
    if (error instanceof PointRefused) return { type: "refused" };
    if (error instanceof RunError) return error.outcome;
    throw error;
  }
}

/** The request of a trial that needs more candles than its job has. */
export function requestMore(warmup: number): LookbackRequest {
  return { type: "lookback", candles: Math.min(WARMUP_MAX, warmup * LOOKBACK_GROWTH) };
}

/** @throws {PointRefused} {RunError} */
function measure(
  job: TrialsRun,
  { parametersJson, execution }: Trial,
  make: MakeTrialStrategy,
  { cutter, ...shared }: TrialsShared & { readonly cutter: LookbackCutter },
): TrialOutcome | LookbackRequest {
  const { candles: _candles, seed: _seed, ...common } = job.task;
  const settings = { ...common, execution };
  const { lookback, lookbackWanted, later } = job;
  const held = settings.firstIndex;
  let firstIndex = Math.min(lookback, held);
  let strategy = make(parametersJson, firstIndex, lookback);
  // Each is made after the one before, which is not used any more then.
  const warmup = (later ?? []).reduce(
    (most, stage) => Math.max(most, make(stage.parametersJson, firstIndex, lookback).warmup),
    strategy.warmup,
  );
  let shown = lookback;
  // As a backtest loads them again: with the warm-up that the strategy turned out to ask for.
  if (settings.execution.lookback && held >= lookback && warmup > lookback) {
    if (warmup > held && held === lookbackWanted) return requestMore(warmup);
    [firstIndex, shown] = [Math.min(warmup, held), warmup];
    if (later === undefined) strategy = make(parametersJson, firstIndex, shown);
  }
  const run = { ...settings, ...cutter.cut(firstIndex), ...shared };
  if (later === undefined) return { type: "completed", ...measureTrial({ ...run, strategy }) };
  const stages = [{ parametersJson, fromMs: -Infinity }, ...later];
  return { type: "completed", ...measureCarried(run, stages, (json) => make(json, firstIndex, shown)) };
}
