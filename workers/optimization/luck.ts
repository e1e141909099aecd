/** Reads the trials from which the luck of an optimization's best one is measured. */
import type { Db } from "../../db/client.ts";
import { errorOf, reasonsOf } from "../../db/codec/trial_rows.ts";
import type { BestTrial, Optimization } from "../../db/optimizations.ts";
import { readScanDays } from "../../db/scan_markets.ts";
import { readTrialChunks, readTrialMetric, readTrialReturns } from "../../db/trial_chunks.ts";
import { holdingReturns } from "../../engine/metrics/benchmark.ts";
import { concludeLuck } from "../../research/luck/conclusion.ts";
import { describeNoBest } from "../../research/luck/verdict.ts";
import { measureOf } from "../../research/luck/measures.ts";
import { chooseConsidered, trialsConsidered } from "../../research/luck/considered_trials.ts";
import type { Trials } from "../../research/overfitting.ts";
import { plateau } from "../../research/plateau.ts";
import { countGroups, groupAt } from "../../research/candle_axes.ts";
import { type Holding, joinDays } from "../../research/joined_days.ts";
import { neighboursOf } from "../../research/space.ts";
import { FIRST_POINTS } from "../../research/tpe.ts";
import { makeTask } from "../backtest/plan.ts";
import { type CandleServices, loadCandles } from "../backtest/run_candles.ts";
import { readSettings } from "../backtest/run_settings.ts";
import { RunError } from "../common/outcome.ts";
import { loadPortfolio } from "../portfolio/load_portfolio.ts";
import { listPortfolioDays } from "./portfolio_slice.ts";
import { listDays } from "./slice_plan.ts";

/**
 * Reads the trials that are considered into shared memory.
 *
 * @returns Null where no trial has the objective, and where the signal was aborted.
 */
export async function readTrials(
  db: Db,
  record: Optimization,
  { holding, ...rates }: Pick<Trials, "periodsPerYear" | "riskFreeRate" | "daysPerReturn"> & {
    readonly holding: Holding | null;
  },
  signal: AbortSignal,
): Promise<Trials | null> {
  const { id, space, objective, direction, seed, best: [best] } = record;
  if (best === undefined) return null;
  const { near, kept } = await lookOver(db, record, best, signal);
  const calendar = countGroups(space) === null ? null : joinDays(await readScanDays(db, id));
  const days = calendar?.days.length ?? kept.reduce((most, trial) => Math.max(most, trial.days), 0);
  const most = trialsConsidered(measureOf(objective, rates.periodsPerYear), days);
  const chosen = new Set(chooseConsidered(kept.map((trial) => trial.objective), direction, most));
  const columns = allocate(chosen.size, days);
  const numbers: number[] = [];
  for await (const { kept: at, place, point, returns } of readTrialReturns(db, id)) {
    if (signal.aborted) return null;
    if (!chosen.has(at)) continue;
    const column = columns[numbers.push(place + 1) - 1]!;
    if (calendar === null) column.set(returns);
    else calendar.place(groupAt(space, point), returns, column);
  }
  return {
    trials: record.trials - record.trialsFailed,
    objective,
    direction,
    returns: columns,
    numbers,
    best: Math.max(0, numbers.indexOf(best.number)),
    starts: numbers.flatMap((number, i) => isStart(record, number - 1) ? [i] : []),
    trades: await readTrades(db, record, best),
    plateau: plateau(space, best.point, (point) => near.get(point), direction),
    seed,
    pathRules: record.testedPaths,
    ...rates,
    // Where every account reached zero, the trials end before the range does.
    benchmark: holding === null ? null : calendar?.align(holding) ?? holding.returns.slice(0, days),
  };
}

/**
 * The report of an optimization of which no trial has the objective: nothing but the reason.
 *
 * @returns Null without trials, and where the signal was aborted.
 */
export async function explainNoBest(db: Db, record: Optimization, periodsPerYear: number, signal: AbortSignal) {
  const { id, objective, trials } = record;
  if (trials === 0) return null;
  const counts = new Map<string, number>();
  let trades = 0;
  for await (const rows of readTrialChunks(db, id, { from: 0 })) {
    if (signal.aborted) return null;
    for (let row = 0; row < rows.count; row++) {
      const reason = errorOf(rows, row)?.message ?? reasonsOf(rows, row)[objective];
      if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      for (const name of ["trades", "open_trades"] as const) trades += rows.columns[name]?.[row] || 0;
    }
  }
  const [usual] = [...counts].sort(([, a], [, b]) => b - a);
  const none = { noGain: null, benchmark: null };
  const measure = measureOf(objective, periodsPerYear);
  const luck = concludeLuck({ measure, trials, numbers: [], days: 0, trades: 0, paths: null }, none);
  const conclusion = describeNoBest({ objective, trials, trades, reason: usual?.[0] });
  return { overfitting: null, luck: { ...luck, conclusion } };
}

/** True for the trials of a guided search that were chosen before any result was known. @param place From 0. */
function isStart({ method }: Optimization, place: number): boolean {
  return method === "tpe" && place < FIRST_POINTS;
}

/** Passes over all trials, without their daily returns. */
async function lookOver(db: Db, record: Optimization, best: BestTrial, signal: AbortSignal) {
  const { id, space, objective, direction } = record;
  const neighbours = new Set([best.point, ...neighboursOf(space, best.point)]);
  const near = new Map<number, number>();
  // The trials whose daily returns are kept.
  const kept: { readonly objective: number; readonly days: number }[] = [];
  for await (const { count, columns } of readTrialMetric(db, id, objective)) {
    if (signal.aborted) break;
    const { place, point, days } = columns;
    for (let row = 0; row < count; row++) {
      const value = columns[objective]?.[row] ?? NaN;
      if (neighbours.has(point![row]!) && !Number.isNaN(value)) near.set(point![row]!, value);
      // These take part: the best one, even where many have the same value, and the start of a search.
      const isSure = place![row] === best.number - 1 || isStart(record, place![row]!);
      const rank = isSure ? (direction === "max" ? Infinity : -Infinity) : value;
      if (days![row] !== 0) kept.push({ objective: rank, days: days![row]! });
    }
  }
  return { near, kept };
}

/** Closed trades of the best trial. */
async function readTrades(db: Db, { id }: Optimization, { number }: BestTrial): Promise<number> {
  for await (const { columns, count } of readTrialChunks(db, id, { from: number - 1 })) {
    for (let row = 0; row < count; row++) if (columns.place![row] === number - 1) return columns.trades?.[row] ?? 0;
  }
  return 0;
}

/** Daily returns of holding the benchmark over an optimization's range; null where its candles cannot be read. */
export async function readHolding(services: CandleServices, record: Optimization): Promise<Holding | null> {
  const settings = readSettings(record);
  try {
    const task = makeTask(record, settings, await loadCandles(services, record, settings, 0), 0);
    const { candles: { time, open, close }, assetClass, tradingDays = null, benchmark = null } = task;
    const returns = holdingReturns({ time, open, close, assetClass, tradingDays, benchmark });
    const holding = { returns, days: listDays(task) };
    const { markets } = settings;
    if (markets === null) return holding;
    // An account over many markets has days of its own.
    const days = listPortfolioDays((await loadPortfolio(services, record, settings, { markets, lookback: 0 })).task);
    return { returns: joinDays(new Map([[0, days]])).align(holding), days };
  } catch (error) {
    if (error instanceof RunError) return null;
    throw error;
  }
}

/** Columns of zeros, in memory that no thread has to copy. */
function allocate(count: number, length: number): Float64Array[] {
  const all = new Float64Array(new SharedArrayBuffer(count * length * Float64Array.BYTES_PER_ELEMENT));
  return Array.from({ length: count }, (_, i) => all.subarray(i * length, (i + 1) * length));
}
