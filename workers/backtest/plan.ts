import { createHash } from "node:crypto";
import type { Instrument } from "../../db/instruments.ts";
import { type Execution, withPeriodsPerYear } from "../../engine/execution.ts";
import type { BacktestResult, Integrity, ResultInput, ResultSession } from "../../engine/result.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import type { CandlesRead } from "../../market/archive/read.ts";
import { daysOf, rangeOfDates } from "../../market/archive/made_candles.ts";
import { groupByDayOnce } from "../../market/calendar/group_by_day.ts";
import { sessionWith } from "../../market/calendar/exchange_sessions.ts";
import { isGap } from "../../market/calendar/trading_hours.ts";
import {
  bucketStart,
  bucketStartAtOrAfter,
  candleEnd,
  fixedMs,
  isCoarser,
  isDaily,
  type Timeframe,
} from "../../market/timeframes.ts";
import type { EncodedRun } from "../common/protocol.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import type { Decider } from "./decider.ts";
import type { LoadedInput } from "./input_candles.ts";
import { datesOf } from "./candles_record.ts";
import type { Benchmark, MarketData } from "./run_candles.ts";
import type { RunRecord, RunSettings } from "./run_settings.ts";
import type { Run } from "./runner.ts";

/** Everything that decides a backtest's result. */
export interface BacktestPlan {
  readonly run: Run;
  /** The common part of every kind of `run`. */
  readonly task: SandboxTask;
  readonly read: CandlesRead;
  readonly inputs: readonly ResultInput[];
  readonly session: ResultSession;
  /** Remarks on the candles, for the result. */
  readonly notes: readonly string[];
  /** Of the strategy's module, hexadecimal; null without one. */
  readonly moduleSha256: string | null;
  /** SHA-256 over everything that decides the result, hexadecimal: equal keys, equal results. */
  readonly runKey: string;
  /** Candles before the range that were asked for. */
  readonly lookbackWanted: number;
  readonly series: MarketData["series"];
}

/** Puts together a record's strategy, assumptions and candles. */
export function makePlan(
  record: RunRecord,
  settings: RunSettings,
  decider: Decider,
  market: MarketData,
): BacktestPlan {
  const { timeframe, hours, own } = settings;
  const { instrument, read, finer, benchmark, inputs, series } = market;
  const { timezone, open, close, weekdays } = sessionWith(instrument, hours);
  const session = { hours, timezone, open, close, weekdays };
  const runKey = hashCanonical({
    engine_version: ENGINE_VERSION,
    strategy: decider.identity,
    parameters: { ...own, timeframe },
    execution: executionOf(settings, market),
    asset_class: instrument.assetClass,
    session,
    data: read.sha256,
    finer_data: finer?.sha256 ?? null,
    benchmark_data: benchmark?.read.sha256 ?? null,
    ...identifyInputs(inputs),
    lookback: read.lookback,
    initial_balance: record.initialBalance,
    start_date: record.startDate,
    end_date: record.endDate,
  });
  const task = makeTask(record, settings, market, Number.parseInt(runKey.slice(0, 8), 16));
  const holdsAll = task.execution.lookback && read.lookback === decider.lookback;
  const notes = [
    ...describeCoverage(record, instrument, timeframe, read),
    `end_date ${record.endDate} is exclusive: the last candle opens at ${isoTime(read.candles.time.at(-1)!)}`,
    ...(benchmark === null ? [] : describeBenchmark(record, benchmark)),
    ...inputs.flatMap((input) => describeInput(record, input)),
    ...(holdsAll ? [] : describeHistory(record, read.lookback)),
  ];
  return {
    run: decider.toRun(task, { sha256: read.sha256, lookbackWanted: holdsAll ? decider.lookback : null }),
    task,
    read,
    inputs: summarizeInputs(inputs),
    session,
    notes,
    moduleSha256: decider.moduleSha256,
    runKey,
    lookbackWanted: decider.lookback,
    series,
  };
}

/**
 * A run's candles and settings, for any kind of strategy.
 *
 * @param seed Chooses where the integrity checks look; an unsigned 32-bit number.
 */
export function makeTask(
  { initialBalance }: Pick<RunRecord, "initialBalance">,
  settings: RunSettings,
  market: MarketData,
  seed: number,
): SandboxTask {
  const { timeframe, hours } = settings;
  const { instrument, read, finer, benchmark } = market;
  return {
    candles: read.candles,
    firstIndex: read.lookback,
    initialBalance,
    execution: executionOf(settings, market),
    timeframeMs: fixedMs(timeframe),
    assetClass: instrument.assetClass,
    // A weekly or monthly candle is a period of its own.
    tradingDays: isCoarser(timeframe, "1d")
      ? null
      : groupByDayOnce(daysOf(instrument, timeframe, hours), read.candles.time),
    finer: finer?.candles ?? null,
    ...(market.inputs.length === 0 ? {} : { inputs: market.inputs.map(({ aligned }) => aligned) }),
    benchmark: benchmark === null ? null : { time: benchmark.read.candles.time, close: benchmark.read.candles.close },
    seed,
  };
}

function executionOf({ execution, timeframe }: RunSettings, { instrument }: MarketData): Execution {
  return withPeriodsPerYear(execution, instrument.assetClass, fixedMs(timeframe));
}

/** Notes that the benchmark's candles begin later or end sooner than the record asks. */
function describeBenchmark(
  record: RunRecord,
  { instrument, timeframe, read }: Benchmark,
): string[] {
  const notes = describeCoverage(record, instrument, timeframe, read);
  return notes.map((note) => `Benchmark ${instrument.symbol}: ${note}`);
}

/** The part of a run's key that its inputs are. */
export function identifyInputs(inputs: readonly LoadedInput[]): object {
  if (inputs.length === 0) return {};
  const rows = inputs.map(({ name, timeframe, instrument, read }) => ({
    name,
    timeframe,
    session: sessionWith(instrument, "regular"),
    data: read.sha256,
    lookback: read.lookback,
  }));
  return { inputs: rows };
}

/** The inputs of a run, for its result. */
export function summarizeInputs(inputs: readonly LoadedInput[]): ResultInput[] {
  return inputs.map(({ name, timeframe, instrument: { symbol, exchange }, read }) => ({
    name,
    symbol,
    exchange,
    timeframe,
    candles: read.candles.time.length,
    first: isoTime(read.candles.time[0]!),
    last: isoTime(read.candles.time.at(-1)!),
    sha256: read.sha256,
  }));
}

/** Notes that an input has no candle that is known in the range, or none of its end. */
export function describeInput(
  record: RunRecord,
  { name, timeframe, instrument, read, aligned }: LoadedInput,
): string[] {
  const { end } = rangeOfDates(instrument, timeframe, datesOf(record));
  const days = daysOf(instrument, timeframe);
  const lastClose = candleEnd(read.candles.time.at(-1)!, timeframe);
  const isEarly = isGap(instrument, days, lastClose, isDaily(timeframe) ? bucketStart(end, timeframe) : end);
  return [
    ...(aligned.knownFrom[0] === Infinity
      ? [`The input ${name} is empty: none of its candles closes within the run`]
      : []),
    ...(isEarly ? [`The input ${name} ends at ${isoTime(lastClose)}: its last values are repeated from there on`] : []),
  ];
}

/** Notes that an endpoint saw less history at first than it asks for. */
function describeHistory({ runtime, startDate }: RunRecord, held: number): string[] {
  if (runtime?.type !== "remote" || held >= runtime.lookbackCandles) return [];
  return [
    `The endpoint looks back on ${runtime.lookbackCandles} candles, and had ${held} from before start_date ${startDate}. ` +
    "Its first decisions may differ from those of a range that begins later",
  ];
}

/** Notes that the candles begin later or end sooner than the record asks. */
function describeCoverage(
  record: RunRecord,
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

export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** The `result` of a completed run, as the API returns it. */
export function makeResult(
  { task, read, inputs, session, notes, moduleSha256, runKey }: BacktestPlan,
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
      ...(inputs.length === 0 ? {} : { inputs }),
    },
    execution: task.execution,
    metrics: result.metrics,
    undefined_metrics: result.undefinedMetrics,
    bounds: result.bounds,
    notes: [...notes, ...result.notes, ...describeFailedChecks(integrity)],
    integrity,
    duration_ms: durationMs,
  };
}

export function describeFailedChecks(integrity: Integrity): string[] {
  return Object.entries(integrity).flatMap(([name, { status, evidence }]) =>
    status === "failed" ? [`The integrity check ${name} failed: ${evidence}`] : []
  );
}

/** SHA-256 of a value's JSON with sorted keys, so that equal content has an equal sum. */
export function hashCanonical(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortKeys)).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1));
}
