import { getLogger, withContext } from "@logtape/logtape";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import type { RunProgress } from "../../engine/control.ts";
import type { ReadThrough } from "../../market/on_demand/read_through.ts";
import { type BacktestPlan, makeResult, planBacktest } from "./plan.ts";
import type { BacktestRecords, ClaimedBacktest, RunEnd } from "./records.ts";
import type { CandleCache } from "./candle_cache.ts";
import type { StopReason } from "../jobs/loop.ts";
import type { TakenJob } from "../jobs/jobs.ts";
import { patiently } from "../retry.ts";
import { RunError } from "../outcome.ts";
import type { Runner } from "./runner.ts";
import { measureRun, traceStep } from "../telemetry.ts";

const log = getLogger(["hindcast", "queue"]);

// After that another process may have a free worker sooner.
const WAIT_MS = 1000;

/** What backtests are done with. */
export interface BacktestServices {
  readonly db: Db;
  readonly records: BacktestRecords;
  readonly candles: CandleCache;
  readonly readThrough: ReadThrough;
  /** How many candles a run may have. */
  readonly candlesMax: number;
  readonly runner: Runner;
  /** Computing time of a run. */
  readonly deadlineMs: number;
}

/**
 * Claims a backtest's record, runs it and stores what came out, in one transaction with the end of its job.
 *
 * The store is fenced twice, by the record's attempt and by the job's: whoever comes late, because it was given up for dead, changes nothing.
 *
 * While the database is away, what is to be written waits for it, for as long as the job is not lost to another worker.
 *
 * @throws What the database says when not even the failure can be recorded: the job's heartbeat then lapses, and it is tried again.
 */
export async function runBacktestJob(services: BacktestServices, job: TakenJob, signal: AbortSignal): Promise<void> {
  const { records } = services;
  await withContext({ backtest_id: job.id }, async () => {
    const record = await patiently(signal, () => records.claim(job.id));
    const attempt = record?.attempts ?? 0;
    const settle = (end: RunEnd) =>
      traceStep("store", () => patiently(signal, () => records.settle(job, attempt, end)));
    if (record === null) return await settle({ type: "dropped" });
    const begun = performance.now();
    const end = await endRun(services, record, settle, signal);
    tell(record, end, performance.now() - begun);
  });
}

/** Runs a claimed record and settles what became of it, which it returns. */
async function endRun(
  services: BacktestServices,
  record: ClaimedBacktest,
  settle: (end: RunEnd) => Promise<void>,
  signal: AbortSignal,
): Promise<RunEnd> {
  let end: RunEnd;
  try {
    end = await attemptRun(services, record, signal);
    await settle(end);
  } catch (error) {
    log.error("Attempt {attempt} failed: {error}", { attempt: record.attempts, error });
    end = { type: isDatabaseFault(error) ? "given_back" : "broken" };
    await settle(end);
  }
  return end;
}

function tell(record: Backtest, end: RunEnd, durationMs: number): void {
  const { attempts: attempt, ownerId: user_id, runtime } = record;
  const error_code = end.type === "failed" ? end.error.code : undefined;
  log.info("backtest", {
    outcome: end.type,
    user_id,
    attempt,
    duration_ms: Math.round(durationMs),
    error_code,
  });
  measureRun({
    durationSeconds: durationMs / 1000,
    outcome: end.type,
    strategyKind: runtime?.type ?? "builtin",
    errorCode: error_code,
  });
}

/** Runs a claimed record. @throws When the fault is ours. */
async function attemptRun(services: BacktestServices, record: ClaimedBacktest, signal: AbortSignal): Promise<RunEnd> {
  try {
    if (record.hasNoRoom) {
      throw new RunError(
        "QUOTA_EXCEEDED",
        "Cannot keep a result: your backtests have more bytes than they may; delete some",
      );
    }
    const plan = await traceStep("load candles", () => planBacktest(services, record));
    return await compute(services, record, plan, signal);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { type: "failed", error: { code: error.code, message: error.message } };
  }
}

async function compute(
  { records, runner, deadlineMs }: BacktestServices,
  record: Backtest,
  plan: BacktestPlan,
  signal: AbortSignal,
): Promise<RunEnd> {
  const { time } = plan.task.candles;
  const progress = new ProgressWriter(records, record, time.subarray(plan.task.firstIndex));
  const stop = AbortSignal.any([signal, progress.lost]);
  const begun = performance.now();
  const onProgress = (done: RunProgress) => progress.write(done);
  const limits = { deadlineMs, waitMs: WAIT_MS, signal: stop, onProgress };
  const outcome = await traceStep("simulate", () => runner.run(plan.run, limits));
  const durationMs = Math.round(performance.now() - begun);
  await progress.written;
  switch (outcome.type) {
    case "done": {
      const { trades, equity, position, orders } = outcome.result;
      const curve = { time: time.subarray(plan.task.firstIndex), equity, position };
      return {
        type: "completed",
        run: { result: makeResult(plan, outcome, durationMs), trades, equity: curve, orders },
      };
    }
    case "failed":
      throw new RunError(outcome.code, outcome.message);
    case "timed_out": {
      const done = `${outcome.candlesDone} of ${time.length - plan.task.firstIndex} candles were done`;
      throw new RunError("STRATEGY_TIMED_OUT", `Cannot finish within ${deadlineMs / 1000} s: ${done}`);
    }
    case "stopped":
      return { type: stop.reason === "closing" satisfies StopReason ? "given_back" : "dropped" };
    case "crowded":
      return { type: "given_back" };
    case "broken":
      // One that is too busy to stop in time is not at fault.
      if (stop.reason === "closing" satisfies StopReason) return { type: "given_back" };
      throw new Error(`The sandbox broke: ${outcome.message}`);
  }
}

/** Writes a run's progress, one write at a time, and notices when the record is no longer the run's. */
class ProgressWriter {
  readonly #lost = new AbortController();
  readonly #records: BacktestRecords;
  readonly #record: Backtest;
  readonly #time: Float64Array;
  #writing = false;
  #far: RunProgress = { candlesDone: 0, equity: NaN };
  /** Resolves when no write is under way. */
  written: Promise<void> = Promise.resolve();

  /** @param time Opens of the run's candles. */
  constructor(records: BacktestRecords, record: Backtest, time: Float64Array) {
    this.#records = records;
    this.#record = record;
    this.#time = time;
  }

  /** Aborted when the record was cancelled, deleted or claimed by another. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  write(now: RunProgress): void {
    if (this.#writing) return;
    this.#writing = true;
    // The integrity checks begin to count anew.
    if (now.candlesDone > this.#far.candlesDone) this.#far = now;
    this.written = this.#write(this.#far).finally(() => this.#writing = false);
  }

  async #write({ candlesDone, equity }: RunProgress): Promise<void> {
    const { id, attempts: attempt } = this.#record;
    const time = this.#time[candlesDone - 1];
    const isKnown = time !== undefined && Number.isFinite(equity);
    const partialEquity = isKnown ? { timestamp: new Date(time).toISOString(), equity } : null;
    const progress = Math.min(1, candlesDone / this.#time.length);
    try {
      if (!await this.#records.progress({ id, attempt, progress, partialEquity })) {
        this.#lost.abort("lost" satisfies StopReason);
      }
    } catch (error) {
      log.warn("Cannot write the progress: {error}", { error });
    }
  }
}
