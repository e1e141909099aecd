import type { Db } from "../db/client.ts";
import { RUN_KINDS, type RunKindName } from "../db/run_kinds.ts";
import { RUN_RECORDS } from "../db/run_records.ts";
import type { ReadThrough } from "../market/on_demand/read_through.ts";
import { CandleCache } from "./backtest/candle_cache.ts";
import { type BacktestServices, runBacktestJob } from "./backtest_job.ts";
import { BacktestRecords } from "./backtest/records.ts";
import { Runner } from "./backtest/runner.ts";
import type { EgressRules } from "./egress/guard.ts";
import { runDeadJob } from "./jobs/dead_job.ts";
import { cleanUp, scheduleHousekeeping } from "./jobs/housekeeping.ts";
import { runIngestionJob } from "./jobs/ingestion_job.ts";
import type { Jobs } from "./jobs/jobs.ts";
import { type JobHandler, JobLoop } from "./jobs/loop.ts";
import { runModuleCheckJob } from "./checks/module_check_job.ts";
import { type QueueName, QUEUES } from "./jobs/queues.ts";
import { startScheduledRun, syncSchedules } from "./jobs/schedules.ts";
import { monteCarloStudy } from "./monte_carlo/monte_carlo_job.ts";
import { ForeignPaths } from "./monte_carlo/foreign_paths.ts";
import { runOptimizationJob } from "./optimization/optimization_job.ts";
import type { OptimizationServices } from "./optimization/optimization_services.ts";
import { OwnerTurns } from "./optimization/owner_turns.ts";
import { SliceRecords } from "./optimization/slice_records.ts";
import { SliceRunner } from "./optimization/slice_runner.ts";
import { retryOnDatabaseFault } from "./common/retry.ts";
import type { Spares } from "./sandbox/spares.ts";
import type { ScriptModes } from "./scripts/script_mode.ts";
import { LateRunner } from "./stress/late_runner.ts";
import { type StressServices, stressStudy } from "./stress/stress_job.ts";
import { runStudyJob, type StudyServices } from "./studies/study_job.ts";

// A process that starts has nothing else to do than to wait.
const NEVER = new AbortController().signal;

/** The settings of a process for its jobs. */
interface WorkServices {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly readThrough: ReadThrough;
  readonly egress: EgressRules;
  readonly scripts: ScriptModes;
  /** Processes that wait for users' code; the caller closes them. */
  readonly spares: Spares | undefined;
  /** How many backtests compute at once. */
  readonly backtestsMax: number;
  readonly limits: {
    readonly runSecondsMax: number;
    readonly runCandlesMax: number;
    readonly resultBytesMax: number;
    readonly resultDaysMax: number | undefined;
  };
  /** Called before each pause in which the start waits for the database. */
  readonly onWait: (() => void) | undefined;
}

/** The parts that a process starts for its jobs and closes at its end; filled while it starts. */
interface Started {
  readonly loops: JobLoop[];
  readonly runners: { close(): void | Promise<void> }[];
}

/** Starts to take the jobs of all queues. */
export async function startWork(services: WorkServices, { loops, runners }: Started): Promise<void> {
  const { db, jobs, readThrough, egress, scripts, spares, backtestsMax, limits, onWait } = services;
  const { runSecondsMax, runCandlesMax, resultBytesMax } = limits;
  const runner = new Runner(backtestsMax, egress, scripts, spares);
  const spareRunner = new Runner(1, egress, scripts, spares);
  const sliceRunner = new SliceRunner(db, backtestsMax, egress, scripts, spares);
  runners.push(runner, spareRunner, sliceRunner);
  const candles = {
    db,
    candles: new CandleCache(db),
    readThrough,
    candlesMax: runCandlesMax,
    deadlineMs: runSecondsMax * 1000,
  };
  const backtests = { ...candles, records: new BacktestRecords(db, jobs, resultBytesMax), runner };
  const records = new SliceRecords(db, jobs);
  const optimizations = {
    ...candles,
    jobs,
    records,
    runner: sliceRunner,
    beginnings: new OwnerTurns(),
    places: backtestsMax,
    resultBytesMax,
  };
  // Slices take the places that backtests leave, and at least one: their threads are their own.
  const slicePlaces = () => Math.max(1, backtestsMax - (loops[0]?.heldCount ?? 0)) + sliceRunner.slicesAhead;
  const stressRunner = new LateRunner(() => new Runner(1, egress, scripts));
  runners.push(stressRunner);
  const studies = {
    ...candles,
    jobs,
    resultBytesMax,
    foreignPaths: new ForeignPaths(egress, scripts),
    runner: () => stressRunner.start(),
  };
  const backtestPlaces = () =>
    refillAtHalf({ wanted: runner.runsWanted, held: loops[0]?.heldCount ?? 0, backtestsMax });
  const work = listWork(services, {
    backtests,
    backtestPlaces,
    spareRunner,
    optimizations,
    slicePlaces,
    studies,
  });
  for (const [queue, concurrency, handle, handleInSpare] of work) {
    // Before the first loop asks for jobs, which may take the last connection that the listener needs.
    let wake = () => {};
    await retryOnDatabaseFault(NEVER, () => jobs.changes.subscribe(`queue ${queue}`, () => wake()), onWait);
    const loop = new JobLoop(jobs, queue, concurrency, handle);
    loops.push(loop);
    wake = () => loop.wake();
    if (handleInSpare === undefined) continue;
    // Held in advance, runs are so quick that turns suffice.
    loops.push(new JobLoop(jobs, queue, () => concurrency() > backtestsMax ? 0 : 1, handleInSpare, loop));
  }
  // A crash may have left schedules unsynced.
  await retryOnDatabaseFault(NEVER, () => Promise.all([scheduleHousekeeping(jobs), syncSchedules(db, jobs)]), onWait);
}

/**
 * How many backtests to hold now. Those in advance are taken again when half of them are over: the others keep the threads busy
 * meanwhile, and the database is asked for many at once.
 *
 * @param places `wanted`: the most to hold; `held`: now; `backtestsMax`: how many compute at once.
 */
export function refillAtHalf(
  { wanted, held, backtestsMax }: { readonly wanted: number; readonly held: number; readonly backtestsMax: number },
): number {
  return wanted > backtestsMax && held < wanted && held > wanted / 2 ? held : wanted;
}

/** How many jobs of a queue a worker holds at once, the function that does one, and the one that does it in a spare place, if any. */
type QueueWork = readonly [concurrency: () => number, handle: JobHandler, handleInSpare?: JobHandler];

/** The queues of a worker. Backtests come first. */
function listWork(
  { db, jobs, readThrough, egress, scripts, spares, backtestsMax, limits: { resultDaysMax } }: WorkServices,
  { backtests, backtestPlaces, spareRunner, optimizations, slicePlaces, studies }: {
    readonly backtests: BacktestServices;
    readonly backtestPlaces: () => number;
    readonly spareRunner: Runner;
    readonly optimizations: OptimizationServices;
    readonly slicePlaces: () => number;
    readonly studies: StressServices & StudyServices & { readonly foreignPaths: ForeignPaths };
  },
): readonly (readonly [QueueName, ...QueueWork])[] {
  const ingestion = { db, jobs, feeds: readThrough.feeds };
  const { runner } = backtests;
  const backtest = (runner: Runner): JobHandler => (job, signal) =>
    runBacktestJob({ ...backtests, runner }, job, signal);
  const [monteCarlos, stressTests] = [monteCarloStudy(studies), stressStudy(studies)];
  const check: JobHandler = (job, signal) => runModuleCheckJob({ db, jobs, egress, scripts, spares }, job, signal);
  const runs: Readonly<Record<RunKindName, QueueWork>> = {
    backtest: [backtestPlaces, backtest(runner), backtest(spareRunner)],
    optimization: [slicePlaces, (job, ...hold) => runOptimizationJob(optimizations, job, ...hold)],
    monteCarlo: [() => 1, (job, signal) => runStudyJob(studies, monteCarlos, job, signal)],
    stressTest: [() => 1, (job, signal) => runStudyJob(studies, stressTests, job, signal)],
  };
  return [
    ...Object.values(RUN_RECORDS).map(({ kind }) => [RUN_KINDS[kind].queue, ...runs[kind]] as const),
    [QUEUES.ingestion, () => 1, (job, signal) => runIngestionJob(ingestion, job, signal)],
    [QUEUES.checks, () => backtestsMax, check, check],
    [QUEUES.schedules, () => 1, (job) => startScheduledRun(ingestion, job)],
    [QUEUES.housekeeping, () => 1, (job, signal) => cleanUp({ db, jobs, resultDaysMax }, job, signal)],
    [QUEUES.dead, () => 1, (job) => runDeadJob({ db, jobs }, job)],
  ];
}
