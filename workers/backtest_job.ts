import { getLogger, withContext } from "@logtape/logtape";
import type { Backtest } from "../db/backtests.ts";
import { findUnreadable } from "../db/codec/unreadable.ts";
import { isDatabaseFault } from "../db/faults.ts";
import type { TakenJob } from "./jobs/jobs.ts";
import {
  type Broken,
  brokenBy,
  type Failed,
  LEFT_TO_NEWER,
  NOT_BEGUN,
  type Outcome,
  requireStorage,
  RunError,
  type Stopped,
} from "./common/outcome.ts";
import { retryOnDatabaseFault } from "./common/retry.ts";
import { runPortfolioBacktest } from "./portfolio/portfolio_job.ts";
import { measureRun, traceStep } from "./common/telemetry.ts";
import { findDecider } from "./backtest/decider.ts";
import { describeInputs, type LoadedPlan, reuseResult } from "./backtest/equal_result.ts";
import { makePlan, makeResult } from "./backtest/plan.ts";
import { readSettings } from "./backtest/run_settings.ts";
import type { BacktestRecords, StorableRun } from "./backtest/records.ts";
import { type CandleServices, loadCandles } from "./backtest/run_candles.ts";
import type { Runner } from "./backtest/runner.ts";

const log = getLogger(["hindcast", "queue"]);

// After a longer wait, another process may have a free worker sooner.
const WAIT_MS = 1000;

export interface BacktestServices extends CandleServices {
  readonly records: BacktestRecords;
  readonly runner: Runner;
  /** Computing time of a run. */
  readonly deadlineMs: number;
}

/**
 * Executes a backtest: claims its record, runs it, and stores the outcome in one transaction with the end of its job.
 *
 * While the database is unreachable, claim and outcome are retried until another worker takes the job.
 *
 * @throws {Error} The database's error when even the failure cannot be stored: the heartbeat lapses, and another worker takes the job.
 */
export async function runBacktestJob(shared: BacktestServices, job: TakenJob, signal: AbortSignal): Promise<void> {
  const services = { ...shared, signal };
  const { db, records } = services;
  await withContext({ backtest_id: job.id }, async () => {
    const record = await traceStep("claim", () => retryOnDatabaseFault(signal, () => records.claim(job.id)));
    const settle = (outcome: Outcome<StorableRun>) =>
      traceStep("store", () => retryOnDatabaseFault(signal, () => records.settle(job, record?.attempts ?? 0, outcome)));
    if (record === null) return await settle(NOT_BEGUN);
    const begun = performance.now();
    let outcome: Outcome<StorableRun>;
    try {
      requireStorage("a result", record);
      const settings = readSettings(record);
      const { markets } = settings;
      if (markets !== null) {
        outcome = await runPortfolioBacktest(services, record, { settings, markets, waitMs: WAIT_MS }, signal);
        await settle(outcome);
        return report(record, outcome, performance.now() - begun);
      }
      const decider = await findDecider(db, record, settings);
      const load = (lookback: number) =>
        traceStep("load candles", async () => {
          const market = await loadCandles(services, record, settings, lookback);
          return makePlan(record, settings, { ...decider, lookback }, market);
        });
      const loading = { load, plan: await load(decider.lookback) };
      outcome = await reuseResult(services, record, loading) ?? await simulate(services, record, loading, signal);
      await settle(outcome);
    } catch (error) {
      outcome = signal.aborted ? NOT_BEGUN : explain(error, record);
      await settle(outcome);
    }
    report(record, outcome, performance.now() - begun);
  });
}

async function simulate(
  { records, runner, deadlineMs }: BacktestServices,
  record: Backtest,
  { load, plan: first }: LoadedPlan,
  signal: AbortSignal,
): Promise<Outcome<StorableRun>> {
  let plan = first;
  const time = plan.task.candles.time.subarray(plan.task.firstIndex);
  const progress = records.trackProgress(record, time);
  const stop = AbortSignal.any([signal, progress.lost]);
  const limits = { deadlineMs, waitMs: WAIT_MS, signal: stop, onProgress: progress.write.bind(progress) };
  // A strategy knows its warm-up only once it has its parameters.
  const reload = async (warmup: number) => (plan = await load(warmup)).run;
  const begun = performance.now();
  const outcome = await traceStep("simulate", () => runner.run(plan.run, limits, reload));
  const durationMs = Math.round(performance.now() - begun);
  await progress.written;
  if (outcome.type === "completed") {
    const { chunks, plots = [], sparkline, log = [] } = outcome;
    const result = makeResult(plan, outcome, durationMs);
    return { type: "completed", result, chunks, plots, sparkline, log, inputs: describeInputs(first, plan) };
  }
  if (outcome.type !== "broken") return outcome;
  // A run that is too busy to stop is not at fault.
  if (stop.aborted) return NOT_BEGUN;
  log.error("The sandbox of attempt {attempt} broke: {reason}", { attempt: record.attempts, reason: outcome.message });
  return outcome;
}

/** The outcome of an attempt that threw. */
function explain(error: unknown, { attempts: attempt }: Backtest): Failed | Stopped | Broken {
  if (error instanceof RunError) return error.outcome;
  const unreadable = findUnreadable(error);
  if (unreadable !== undefined) {
    log.warn("Leaving the run to a newer build: {reason}", { reason: unreadable.message });
    return LEFT_TO_NEWER;
  }
  log.error("Attempt {attempt} failed: {error}", { attempt, error });
  return isDatabaseFault(error) ? NOT_BEGUN : brokenBy(error);
}

function report(record: Backtest, outcome: Outcome<StorableRun>, durationMs: number): void {
  const { attempts: attempt, ownerId: user_id, runtime } = record;
  const error_code = outcome.type === "failed" ? outcome.code : undefined;
  log.info("backtest", {
    outcome: outcome.type,
    user_id,
    attempt,
    duration_ms: Math.round(durationMs),
    error_code,
  });
  measureRun({
    durationSeconds: durationMs / 1000,
    outcome: outcome.type,
    strategyKind: runtime?.type ?? "builtin",
    errorCode: error_code,
  });
}
