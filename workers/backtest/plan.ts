import { createHash } from "node:crypto";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import type { Instrument } from "../../db/instruments.ts";
import { readModule } from "../../db/modules.ts";
import { type Execution, PROFILE_DEFAULTS, withPeriodsPerYear } from "../../engine/execution.ts";
import type { BacktestResult, ResultSession } from "../../engine/result.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import type { CandlesRead } from "../../market/archive/read.ts";
import { daysOf, rangeOfDates } from "../../market/archive/made_candles.ts";
import { groupByDayOnce } from "../../market/calendar/group_by_day.ts";
import { HOURS, type Hours, sessionWith } from "../../market/calendar/exchange_sessions.ts";
import { isGap } from "../../market/calendar/trading_hours.ts";
import {
  bucketStart,
  bucketStartAtOrAfter,
  candleEnd,
  fixedMs,
  isCoarser,
  isDaily,
  isTimeframe,
  type Timeframe,
} from "../../market/timeframes.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import { RunError } from "../outcome.ts";
import type { EncodedRun } from "../protocol.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import { type Benchmark, datesOf, type MarketData } from "./run_candles.ts";
import type { Run } from "./runner.ts";

/** A strategy's own parameters, defaults filled in. */
type Parameters = Readonly<Record<string, unknown>>;

/** A record's parameters, grouped by purpose. */
export interface RunSettings {
  readonly timeframe: Timeframe;
  /** The trading hours of which days and coarser candles consist. */
  readonly hours: Hours;
  /** Complete, except for periodsPerYear where the record's instrument decides it. */
  readonly execution: Execution;
  readonly own: Parameters;
}

/** Everything that decides a backtest's result. */
export interface BacktestPlan {
  readonly run: Run;
  /** The common part of every kind of `run`. */
  readonly task: SandboxTask;
  readonly read: CandlesRead;
  readonly session: ResultSession;
  /** Remarks on the candles, for the result. */
  readonly notes: readonly string[];
  /** Of the strategy's module, hexadecimal; null without one. */
  readonly moduleSha256: string | null;
  /** SHA-256 over everything that decides the result, hexadecimal: equal keys, equal results. */
  readonly runKey: string;
}

/** A record's parameters, which were checked and completed when it was submitted. */
export function readSettings({ id, parameters }: Backtest): RunSettings {
  const { timeframe, execution, runtime: _runtime, session = "regular", ...own } = parameters;
  const hours = HOURS.find((name) => name === session);
  if (typeof timeframe !== "string" || !isTimeframe(timeframe) || !isExecution(execution) || hours === undefined) {
    throw new Error(`Cannot run backtest ${id}: its record has no usable timeframe, session or execution`);
  }
  // A record from before a setting existed lacks it.
  return { timeframe, hours, execution: { ...PROFILE_DEFAULTS[execution.profile], ...execution }, own };
}

function isExecution(value: unknown): value is Execution {
  return typeof value === "object" && value !== null && "profile" in value;
}

/** Puts together a record's strategy, assumptions and candles. */
export function makePlan(
  record: Backtest,
  { timeframe, hours, execution: resolved, own }: RunSettings,
  decider: Decider,
  { instrument, read, finer, benchmark }: MarketData,
): BacktestPlan {
  const { assetClass } = instrument;
  const { timezone, open, close, weekdays } = sessionWith(instrument, hours);
  const session = { hours, timezone, open, close, weekdays };
  const execution = withPeriodsPerYear(resolved, assetClass, fixedMs(timeframe));
  const runKey = hashCanonical({
    engine_version: ENGINE_VERSION,
    strategy: decider.identity,
    parameters: { ...own, timeframe },
    execution,
    asset_class: assetClass,
    session,
    data: read.sha256,
    finer_data: finer?.sha256 ?? null,
    benchmark_data: benchmark?.read.sha256 ?? null,
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
    timeframeMs: fixedMs(timeframe),
    assetClass,
    // A weekly or monthly candle is a period of its own.
    tradingDays: isCoarser(timeframe, "1d")
      ? null
      : groupByDayOnce(daysOf(instrument, timeframe, hours), read.candles.time),
    finer: finer?.candles ?? null,
    benchmark: benchmark === null ? null : { time: benchmark.read.candles.time, close: benchmark.read.candles.close },
    seed: Number.parseInt(runKey.slice(0, 8), 16),
  };
  const holdsAll = execution.lookback && read.lookback === decider.lookback;
  const notes = [
    ...describeCoverage(record, instrument, timeframe, read),
    `end_date ${record.endDate} is exclusive: the last candle opens at ${isoTime(read.candles.time.at(-1)!)}`,
    ...(benchmark === null ? [] : describeBenchmark(record, benchmark)),
    ...(holdsAll ? [] : describeHistory(record, read.lookback)),
  ];
  return {
    run: decider.toRun(task, { sha256: read.sha256, lookbackWanted: holdsAll ? decider.lookback : null }),
    task,
    read,
    session,
    notes,
    moduleSha256: decider.moduleSha256,
    runKey,
  };
}

/** Notes that the benchmark's candles begin later or end sooner than the record asks. */
function describeBenchmark(
  record: Backtest,
  { instrument, timeframe, read }: Benchmark,
): string[] {
  const notes = describeCoverage(record, instrument, timeframe, read);
  return notes.map((note) => `Benchmark ${instrument.symbol}: ${note}`);
}

/** Notes that an endpoint saw less history at first than it asks for. */
function describeHistory({ runtime, startDate }: Backtest, held: number): string[] {
  if (runtime?.type !== "remote" || held >= runtime.lookbackCandles) return [];
  return [
    `The endpoint looks back on ${runtime.lookbackCandles} candles, and had ${held} from before start_date ${startDate}. ` +
    "Its first decisions may differ from those of a range that begins later",
  ];
}

/** Notes that the candles begin later or end sooner than the record asks. */
function describeCoverage(
  record: Backtest,
  instrument: Instrument,
  timeframe: Timeframe,
  { candles: { time }, lookback }: CandlesRead,
): string[] {
  const { start, end } = rangeOfDates(instrument, timeframe, datesOf(record));
  const days = daysOf(instrument, timeframe);
  const first = time[lookback]!;
  const lastClose = candleEnd(time.at(-1)!, timeframe);
  const isLate = isGap(instrument, days, isDaily(timeframe) ? bucketStartAtOrAfter(start, timeframe) : start, first);
  const isEarly = isGap(instrument, days, lastClose, isDaily(timeframe) ? bucketStart(end, timeframe) : end);
  return [
    ...(isLate ? [`The candles begin at ${isoTime(first)}: none are held from start_date ${record.startDate} on`] : []),
    ...(isEarly ? [`The candles end at ${isoTime(lastClose)}: none are held up to end_date ${record.endDate}`] : []),
  ];
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The strategy of a run. */
export interface Decider {
  /** Its part of the run's key. */
  readonly identity: unknown;
  readonly moduleSha256: string | null;
  /** Candles that the strategy needs before the start date. */
  readonly lookback: number;
  /** @param read The task's candles: their checksum, and those that were wanted before the range; null: there are no more. */
  toRun(task: SandboxTask, read: { readonly sha256: string; readonly lookbackWanted: number | null }): Run;
}

/**
 * Finds the strategy of a record.
 *
 * @throws {RunError} STRATEGY_FAILED when the strategy is gone, or when its parameters contradict each other beyond its schema.
 */
export async function findDecider(db: Db, record: Backtest, { own: parameters }: RunSettings): Promise<Decider> {
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
  if (module === null) throw new RunError("STRATEGY_FAILED", `Cannot find the code ${runtime.sha256}`);
  const common = { parametersJson: JSON.stringify(parameters), candlesMin: minCandles };
  const code = runtime.type === "wasm"
    ? { kind: "run", module, ...common } as const
    : { kind: "script", source: new TextDecoder().decode(module), ...common } as const;
  return {
    // Another V8 may round a sine otherwise.
    identity: { sha256: runtime.sha256, minCandles, ...(runtime.type === "script" ? { v8: Deno.version.v8 } : {}) },
    moduleSha256: runtime.sha256,
    lookback,
    toRun: (task, { lookbackWanted }) => ({ kind: "code", job: { ...code, lookbackWanted, task } }),
  };
}

function builtinDecider(record: Backtest, parameters: Parameters): Decider {
  const builtin = findBuiltin(record.strategySlug ?? "");
  if (builtin === undefined) throw new RunError("STRATEGY_FAILED", `Cannot find the strategy ${record.strategySlug}`);
  return {
    identity: builtin.slug,
    moduleSha256: null,
    lookback: Math.max(builtin.lookback_candles, lookbackOf(builtin, parameters)),
    toRun: (task, { sha256 }) => ({
      kind: "builtin",
      task: { ...task, candlesSha256: sha256, slug: builtin.slug, parameters },
    }),
  };
}

/** The `result` of a completed run, as the API returns it. */
export function makeResult(
  { task, read, session, notes, moduleSha256, runKey }: BacktestPlan,
  { result, integrity }: EncodedRun,
  durationMs: number,
): BacktestResult {
  const { time } = task.candles;
  return {
    run_key: runKey,
    engine_version: ENGINE_VERSION,
    module_sha256: moduleSha256,
    data: {
      candles: time.length - task.firstIndex,
      first: isoTime(time[task.firstIndex]!),
      last: isoTime(time.at(-1)!),
      sha256: read.sha256,
      gaps: read.gaps,
      session,
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

function lookbackOf(builtin: Builtin, parameters: Parameters): number {
  try {
    const { warmup, lookback = 0 } = builtin.create(parameters);
    return Math.max(warmup, lookback);
  } catch (error) {
    if (error instanceof RangeError) throw new RunError("STRATEGY_FAILED", error.message);
    throw error;
  }
}

/** SHA-256 of a value's JSON with sorted keys, so that equal content has an equal sum. */
function hashCanonical(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortKeys)).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}
