import { createHash } from "node:crypto";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { readModule } from "../../db/modules.ts";
import { type AssetClass, type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import type { BacktestResult, Integrity } from "../../engine/result.ts";
import type { RunResult } from "../../engine/run.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import type { CandlesRead } from "../../market/archive/read.ts";
import { isGap } from "../../market/calendar/trading_hours.ts";
import { bucketStart, bucketStartAtOrAfter, isTimeframe, type Timeframe, TIMEFRAMES } from "../../market/timeframes.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import {
  type CandleServices,
  findBacktestInstrument,
  rangeOf,
  readBacktestCandles,
  readFinerCandles,
} from "./run_candles.ts";
import { RunError } from "../outcome.ts";
import type { Run } from "./runner.ts";
import type { SandboxTask } from "../sandbox/task.ts";

/** A strategy's own, defaults filled in. */
type Parameters = Readonly<Record<string, unknown>>;

/** A backtest with everything that decides its result. */
export interface BacktestPlan {
  readonly run: Run;
  /** What every kind of run has: candles, assumptions, money. */
  readonly task: SandboxTask;
  readonly read: CandlesRead;
  /** What the reader of the result should know of the candles, in words. */
  readonly notes: readonly string[];
  /** Of the module that decides, hexadecimal; null where none does. */
  readonly moduleSha256: string | null;
  /** SHA-256 over everything that decides the result, hexadecimal: equal keys, equal results. */
  readonly runKey: string;
}

/**
 * Gathers what a record's run is made of: the strategy, its assumptions, its candles.
 *
 * @throws {RunError} Where the record cannot be run: NO_DATA, STRATEGY_FAILED.
 */
export async function planBacktest(services: CandleServices, record: Backtest): Promise<BacktestPlan> {
  const { timeframe, execution: requested, own } = splitParameters(record);
  const decider = await findDecider(services.db, record, own);
  const instrument = await findBacktestInstrument(services, record, timeframe);
  const execution = resolveExecution(requested, instrument.assetClass, TIMEFRAMES[timeframe]);
  const lookback = execution.lookback ? decider.lookback : 0;
  const read = await readBacktestCandles(services, record, { instrument, timeframe, lookback });
  const magnifies = execution.bothTouched === "magnify";
  const finer = magnifies ? await readFinerCandles(services, record, { instrument, timeframe }) : null;
  const runKey = hashCanonical({
    engine_version: ENGINE_VERSION,
    strategy: decider.identity,
    parameters: { ...own, timeframe },
    execution,
    asset_class: instrument.assetClass,
    data: read.sha256,
    finer_data: finer?.sha256 ?? null,
    lookback: read.lookback,
    initial_balance: record.initialBalance,
    start_date: record.startDate,
    end_date: record.endDate,
  });
  const task = {
    candles: read.candles,
    firstIndex: read.lookback,
    initialBalance: record.initialBalance,
    execution,
    timeframeMs: TIMEFRAMES[timeframe],
    assetClass: instrument.assetClass,
    finer: finer?.candles ?? null,
    seed: Number.parseInt(runKey.slice(0, 8), 16),
  };
  const notes = describeCoverage(record, { timeframe, assetClass: instrument.assetClass }, read);
  return { run: decider.toRun(task), task, read, notes, moduleSha256: decider.moduleSha256, runKey };
}

/** Where the candles begin later or end sooner than was asked: whoever compares results over a range must know. */
function describeCoverage(
  record: Backtest,
  { timeframe, assetClass }: { readonly timeframe: Timeframe; readonly assetClass: AssetClass },
  { candles: { time }, lookback }: CandlesRead,
): string[] {
  const { start, end } = rangeOf(record);
  const first = time[lookback]!;
  const lastClose = time.at(-1)! + TIMEFRAMES[timeframe];
  const moment = (timeMs: number) => new Date(timeMs).toISOString();
  const isLate = isGap(assetClass, bucketStartAtOrAfter(start, timeframe), first);
  const isEarly = isGap(assetClass, lastClose, bucketStart(end, timeframe));
  return [
    ...(isLate ? [`The candles begin at ${moment(first)}: none are held from start_date ${record.startDate} on`] : []),
    ...(isEarly ? [`The candles end at ${moment(lastClose)}: none are held up to end_date ${record.endDate}`] : []),
  ];
}

/** Who decides in a run. */
interface Decider {
  /** What a run's key knows of it. */
  readonly identity: unknown;
  readonly moduleSha256: string | null;
  /** Candles before the start date that it wants to see. */
  readonly lookback: number;
  toRun(task: SandboxTask): Run;
}

async function findDecider(db: Db, record: Backtest, parameters: Parameters): Promise<Decider> {
  const { runtime } = record;
  if (runtime === null) return builtinDecider(record, parameters);
  const { minCandles, lookbackCandles } = runtime;
  const lookback = Math.max(minCandles, lookbackCandles);
  if (runtime.type === "remote") {
    const { endpoint, mode, timeoutMs, isForeign = false } = runtime;
    const remote = { runId: record.id, endpoint, isForeign, mode, timeoutMs, lookbackCandles, minCandles, parameters };
    return {
      identity: { endpoint, mode, minCandles, lookbackCandles },
      moduleSha256: null,
      lookback,
      toRun: (task) => ({ kind: "remote", run: { ...remote, ...task } }),
    };
  }
  const module = await readModule(db, runtime.sha256);
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the module ${runtime.sha256}`);
  const wasm = { kind: "run", module, parametersJson: JSON.stringify(parameters), candlesMin: minCandles } as const;
  return {
    identity: { sha256: runtime.sha256, minCandles },
    moduleSha256: runtime.sha256,
    lookback,
    toRun: (task) => ({ kind: "wasm", job: { ...wasm, task } }),
  };
}

function builtinDecider(record: Backtest, parameters: Parameters): Decider {
  const builtin = findBuiltin(record.strategySlug ?? "");
  if (builtin === undefined) throw new RunError("STRATEGY_FAILED", `Cannot find the strategy ${record.strategySlug}`);
  return {
    identity: builtin.slug,
    moduleSha256: null,
    lookback: Math.max(builtin.lookback_candles, lookbackOf(builtin, parameters)),
    toRun: (task) => ({ kind: "builtin", task: { ...task, slug: builtin.slug, parameters } }),
  };
}

/** A completed run's `result`, as the api gives it. */
export function makeResult(
  { task, read, notes, moduleSha256, runKey }: BacktestPlan,
  { result, integrity }: { readonly result: RunResult; readonly integrity: Integrity },
  durationMs: number,
): BacktestResult {
  const { time } = task.candles;
  const timestamp = (index: number) => new Date(time[index]!).toISOString();
  return {
    run_key: runKey,
    engine_version: ENGINE_VERSION,
    module_sha256: moduleSha256,
    data: {
      candles: time.length - task.firstIndex,
      first: timestamp(task.firstIndex),
      last: timestamp(time.length - 1),
      sha256: read.sha256,
      gaps: read.gaps,
    },
    execution: task.execution,
    metrics: result.metrics,
    undefined_metrics: result.undefinedMetrics,
    bounds: result.bounds,
    notes: [...notes, ...result.notes],
    integrity,
    duration_ms: durationMs,
  };
}

/** A record's parameters, which were checked and completed when it was submitted. */
function splitParameters(record: Backtest): {
  readonly timeframe: Timeframe;
  readonly execution: ExecutionRequest;
  readonly own: Parameters;
} {
  const { timeframe, execution = {}, runtime: _runtime, ...own } = record.parameters;
  if (typeof timeframe !== "string" || !isTimeframe(timeframe) || !isExecutionRequest(execution)) {
    throw new Error(`Cannot run backtest ${record.id}: its record has no usable timeframe or execution`);
  }
  return { timeframe, execution, own };
}

function isExecutionRequest(value: unknown): value is ExecutionRequest {
  return typeof value === "object" && value !== null;
}

/** @throws {RunError} STRATEGY_FAILED when the parameters contradict each other in a way that no schema can say. */
function lookbackOf(builtin: Builtin, parameters: Parameters): number {
  try {
    const { warmup, lookback = 0 } = builtin.create(parameters);
    return Math.max(warmup, lookback);
  } catch (error) {
    if (error instanceof RangeError) throw new RunError("STRATEGY_FAILED", error.message);
    throw error;
  }
}

/** SHA-256 of a value's JSON with the keys of every object in order: the same content, the same sum. */
function hashCanonical(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortKeys)).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}
