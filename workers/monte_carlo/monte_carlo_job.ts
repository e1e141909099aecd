import { getLogger, withContext } from "@logtape/logtape";
import { addSizes, measureBacktests, type Size } from "../../db/backtest_sizes.ts";
import { backtestRecords } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import {
  claimMonteCarlo,
  type MonteCarlo,
  type MonteCarloEnd,
  releaseMonteCarlo,
  setMonteCarloProgress,
  settleMonteCarlo,
} from "../../db/monte_carlos.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import type { FailedPaths, MonteCarloResult } from "../../research/monte_carlo/request.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import type { StopReason } from "../jobs/loop.ts";
import { brokenBy, type Completed, type Failed, NOT_BEGUN, type Outcome, RunError } from "../common/outcome.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import { traceStep } from "../common/telemetry.ts";
import type { ForeignPaths } from "./foreign_paths.ts";
import { loadPathsInput } from "./paths_input.ts";
import { makePaths } from "./paths_thread.ts";

const log = getLogger(["hindcast", "queue"]);

const QUEUE = RUN_KINDS.monteCarlo.queue;

/** The services of a Monte Carlo simulation. */
export interface MonteCarloServices extends CandleServices {
  readonly jobs: Jobs;
  readonly foreignPaths: ForeignPaths;
  /** Computing time of a simulation. */
  readonly deadlineMs: number;
  /** Bytes that the results of one user may occupy. */
  readonly resultBytesMax: number;
}

type Simulation = Outcome<{ readonly result: MonteCarloResult }>;

/**
 * Executes a Monte Carlo simulation: claims its record, makes its paths in a thread, and stores the outcome in one
 * transaction with the end of its job.
 *
 * @throws {Error} The database's error when not even the failure can be stored: the heartbeat lapses, and another worker
 *   takes the job.
 */
export async function runMonteCarloJob(
  services: MonteCarloServices,
  job: TakenJob,
  signal: AbortSignal,
): Promise<void> {
  const { db, jobs } = services;
  await withContext({ monte_carlo_id: job.id }, async () => {
    const record = await retryOnDatabaseFault(signal, () => claimMonteCarlo(db, job.id));
    const outcome = record === null ? NOT_BEGUN : await simulate(services, record, signal);
    const attempt = record?.attempts ?? 0;
    await retryOnDatabaseFault(signal, () => db.transaction((tx: Db) => settle(tx, jobs, { job, record, outcome })));
    log.info("monte carlo", { outcome: outcome.type, attempt });
  });
}

async function simulate(services: MonteCarloServices, record: MonteCarlo, signal: AbortSignal): Promise<Simulation> {
  const { db, jobs, deadlineMs } = services;
  const begun = performance.now();
  const lost = new AbortController();
  let written = Promise.resolve();
  let isWriting = false;
  const onProgress = (progress: number) => {
    if (isWriting) return;
    isWriting = true;
    written = writeProgress(services, record, progress, lost).finally(() => isWriting = false);
  };
  try {
    await requireStorage(services, record);
    await jobs.changes.notify(db, [`monte carlo ${record.id}`]);
    const backtest = await backtestRecords.get(db, { id: record.backtestId, ownerId: record.ownerId });
    // It goes with its backtest.
    if (backtest === null || backtest.result === null) return NOT_BEGUN;
    const { result } = backtest;
    const { task, notes } = await traceStep("load", () => loadPathsInput(services, record, { ...backtest, result }));
    const stop = AbortSignal.any([signal, lost.signal]);
    const limits = { deadlineMs, signal: stop, onProgress };
    const outcome = await traceStep(
      "simulate",
      () => task.method === "foreign_candles" ? services.foreignPaths.make(task, limits) : makePaths(task, limits),
    );
    if (outcome.type === "broken") log.error("The maker of paths broke: {reason}", { reason: outcome.message });
    if (outcome.type !== "completed") return outcome;
    const { samples, failed = [] } = outcome;
    const all = [...notes, ...failed.map((each) => describeFailed(each, record.runs))];
    const duration_ms = Math.round(performance.now() - begun);
    return { type: "completed", result: { samples, failed_paths: failed, notes: all, duration_ms } };
  } catch (error) {
    if (error instanceof RunError) return error.outcome;
    log.error("Attempt {attempt} failed: {error}", { attempt: record.attempts, error });
    return isDatabaseFault(error) ? NOT_BEGUN : brokenBy(error);
  } finally {
    await written;
  }
}

/** @throws {RunError} QUOTA_EXCEEDED */
async function requireStorage({ db, resultBytesMax }: MonteCarloServices, { ownerId }: MonteCarlo): Promise<void> {
  if (await measureBacktests(db, ownerId) <= resultBytesMax) return;
  throw new RunError(
    "QUOTA_EXCEEDED",
    "Cannot store a simulation: your backtests and optimizations are over the storage quota; delete some of them",
  );
}

function describeFailed({ code, message, paths }: FailedPaths, runs: number): string {
  const subject = paths === 1 ? "1 fails and is" : `${paths} fail and are`;
  return `Of ${runs} paths, ${subject} not counted (${code}): ${message}`;
}

async function writeProgress(
  { db, jobs }: MonteCarloServices,
  { id, attempts: attempt }: MonteCarlo,
  progress: number,
  lost: AbortController,
): Promise<void> {
  try {
    if (await setMonteCarloProgress(db, { id, attempt, progress })) {
      await jobs.changes.notify(db, [`monte carlo ${id}`]);
    } else lost.abort("lost" satisfies StopReason);
  } catch (error) {
    log.warn("Cannot write the progress: {error}", { error });
  }
}

async function settle(tx: Db, jobs: Jobs, { job, record, outcome }: {
  readonly job: TakenJob;
  readonly record: MonteCarlo | null;
  readonly outcome: Simulation;
}): Promise<void> {
  const run = { id: job.id, attempt: record?.attempts ?? 0 };
  let grown: Size | null = null;
  if (outcome.type === "broken") {
    await releaseMonteCarlo(tx, run);
    await jobs.fail(tx, QUEUE, job, "see the log");
  } else if (outcome.type === "stopped" && await releaseMonteCarlo(tx, run)) {
    await jobs.giveBack(tx, QUEUE, job);
  } else {
    if (record !== null && outcome.type !== "stopped") grown = await settleMonteCarlo(tx, record, endOf(outcome));
    await jobs.complete(tx, QUEUE, [job]);
  }
  await jobs.changes.notify(tx, [`monte carlo ${job.id}`]);
  // Last, because it locks the storage totals, as everywhere.
  if (grown !== null) await addSizes(tx, [grown]);
}

function endOf(outcome: Completed<{ readonly result: MonteCarloResult }> | Failed): MonteCarloEnd {
  if (outcome.type === "completed") return { result: outcome.result };
  return { error: { code: outcome.code, message: outcome.message } };
}
