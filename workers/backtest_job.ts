import { getLogger } from "@logtape/logtape";
import {
  type Backtest,
  claimBacktest,
  failBacktest,
  releaseBacktest,
  setProgress,
  storeResult,
} from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import type { EquityColumns } from "../db/equity.ts";
import type { TradeColumns } from "../engine/trades.ts";
import { type BacktestPlan, makeResult, planBacktest } from "./backtest_plan.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";
import type { StopReason } from "./job_loop.ts";
import type { Pool } from "./pool.ts";
import { RunError } from "./run_error.ts";

const log = getLogger(["hindcast", "queue"]);

/** What a backtest's job is done with. */
export interface BacktestServices {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly pool: Pool;
  /** Computing time of a run. */
  readonly deadlineMs: number;
}

type RunEnd =
  | {
    readonly type: "completed";
    readonly result: Readonly<Record<string, unknown>>;
    readonly trades: TradeColumns;
    readonly equity: EquityColumns;
  }
  | { readonly type: "failed"; readonly error: { readonly code: string; readonly message: string } }
  | { readonly type: "stopped" };

/**
 * Claims a backtest's record, runs it and stores what came out, in one transaction with the end of its job.
 *
 * The store is fenced twice, by the record's attempt and by the job's: whoever comes late, because it was given up for dead, changes nothing.
 *
 * @throws What the database says when not even the failure can be recorded: the job's heartbeat then lapses, and it is tried again.
 */
export async function runBacktestJob(services: BacktestServices, job: TakenJob, signal: AbortSignal): Promise<void> {
  const { db, jobs } = services;
  const record = await claimBacktest(db, job.id);
  if (record === null) return await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.backtests, job));
  const run = { id: record.id, attempt: record.attempts };
  try {
    await settle(services, job, run, await attemptRun(services, record, signal), signal);
  } catch (error) {
    log.error("Attempt {attempt} of backtest {id} failed: {error}", { ...run, error });
    await db.transaction(async (tx: Db) => {
      await releaseBacktest(tx, run);
      await jobs.fail(tx, QUEUES.backtests, job, "see the log");
    });
  }
}

async function settle(
  { db, jobs }: BacktestServices,
  job: TakenJob,
  run: { readonly id: string; readonly attempt: number },
  end: RunEnd,
  signal: AbortSignal,
): Promise<void> {
  const closing = signal.reason === "closing" satisfies StopReason;
  await db.transaction(async (tx: Db) => {
    if (end.type === "completed") await storeResult(tx, { ...run, ...end });
    if (end.type === "failed") await failBacktest(tx, { ...run, error: end.error });
    if (end.type === "stopped" && closing && await releaseBacktest(tx, run)) {
      await jobs.giveBack(tx, QUEUES.backtests, job);
    } else await jobs.complete(tx, QUEUES.backtests, job);
  });
}

/** Runs a claimed record. @throws When the fault is ours. */
async function attemptRun(services: BacktestServices, record: Backtest, signal: AbortSignal): Promise<RunEnd> {
  try {
    const plan = await planBacktest(services.db, record);
    return await compute(services, record, plan, signal);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { type: "failed", error: { code: error.code, message: error.message } };
  }
}

async function compute(
  { db, pool, deadlineMs }: BacktestServices,
  record: Backtest,
  plan: BacktestPlan,
  signal: AbortSignal,
): Promise<RunEnd> {
  const progress = new ProgressWriter(db, record, plan.task.candles.time.length);
  const begun = performance.now();
  const outcome = await pool.run(plan.task, {
    deadlineMs,
    signal: AbortSignal.any([signal, progress.lost]),
    onProgress: (candlesDone) => progress.write(candlesDone),
  });
  const durationMs = Math.round(performance.now() - begun);
  await progress.written;
  switch (outcome.type) {
    case "done": {
      const { trades, equity, position } = outcome.result;
      const time = plan.task.candles.time.slice(plan.task.firstIndex);
      return {
        type: "completed",
        result: makeResult(plan, outcome, durationMs),
        trades,
        equity: { time, equity, position },
      };
    }
    case "failed":
      throw new RunError(outcome.code, outcome.message);
    case "timed_out": {
      const done = `${outcome.candlesDone} of ${plan.task.candles.time.length} candles were done`;
      throw new RunError("STRATEGY_TIMED_OUT", `Cannot finish within ${deadlineMs / 1000} s: ${done}`);
    }
    case "stopped":
      return { type: "stopped" };
    case "broken":
      throw new Error(`The sandbox broke: ${outcome.message}`);
  }
}

/** Writes a run's progress, one write at a time, and notices when the record is no longer the run's. */
class ProgressWriter {
  readonly #lost = new AbortController();
  readonly #db: Db;
  readonly #record: Backtest;
  readonly #candlesCount: number;
  #writing = false;
  #progress = 0;
  /** Resolves when no write is under way. */
  written: Promise<void> = Promise.resolve();

  constructor(db: Db, record: Backtest, candlesCount: number) {
    this.#db = db;
    this.#record = record;
    this.#candlesCount = candlesCount;
  }

  /** Aborted when the record was cancelled, deleted or claimed by another. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  write(candlesDone: number): void {
    if (this.#writing) return;
    this.#writing = true;
    // The integrity checks begin to count anew.
    this.#progress = Math.max(this.#progress, candlesDone / this.#candlesCount);
    this.written = this.#write(this.#progress).finally(() => this.#writing = false);
  }

  async #write(progress: number): Promise<void> {
    const { id, attempts: attempt } = this.#record;
    try {
      if (!await setProgress(this.#db, { id, attempt, progress })) this.#lost.abort("lost" satisfies StopReason);
    } catch (error) {
      log.warn("Cannot write the progress of backtest {id}: {error}", { id, error });
    }
  }
}
