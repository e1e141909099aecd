/** The trials of a slice of an optimization of a built-in strategy. */
import { TrialTable } from "../../db/codec/trial_table.ts";
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { ColumnCache } from "../../engine/column_cache.ts";
import { isAskedToStop } from "../../engine/control.ts";
import type { ComputedMetrics } from "../../engine/metrics/compute.ts";
import { measurePortfolio } from "../../engine/portfolio/run_portfolio.ts";
import { measureTrial, RunStopped } from "../../engine/run.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { PortfolioSliceTask, SliceRun, SliceTask, SliceTasks, TrialsTask, TrialTask } from "../common/protocol.ts";
import { strategyMaker } from "./builtin_portfolio.ts";
import { LookbackCutter } from "./trial_candles.ts";
import { MarketsCutter } from "./trial_markets.ts";

/** Indicators that trials share: those of a year of minutes with fifteen periods. */
const COLUMN_BYTES_MAX = 1 << 26;

/**
 * Runs the trials of a slice one after the other, until its time or its room for daily returns is used up. All share one memory.
 *
 * @param tasks One a market, in the order of their trials; or one of many markets.
 * @param control The slice's control words: a stop ends it after the trials that are done.
 * @param pool Unused memory; nobody else uses it meanwhile.
 */
export function runSlice(
  tasks: SliceTasks,
  control: Int32Array,
  pool: BufferPool,
): Outcome<SliceRun> {
  const first = tasks.find((task) => "slug" in task);
  const table = new TrialTable(first ?? { objective: "sharpe", direction: "max", returnsStride: 1 });
  const state = { table, until: performance.now() + (first?.budgetMs ?? 0), control, pool };
  try {
    for (const task of tasks) {
      if ("error" in task) { for (const trial of task.trials) table.addFailed(trial, task.error); }
      else if (!runTrials(task, state)) break;
    }
  } finally {
    pool.columns = null;
  }
  if (table.rows === 0) return NOT_BEGUN;
  return { type: "completed", done: table.rows, ...table.encode() };
}

interface SliceState {
  readonly table: TrialTable;
  /** When its time is over. */
  readonly until: number;
  readonly control: Int32Array;
  readonly pool: BufferPool;
}

/** Runs a trial. */
type Measure = (trial: TrialTask) => ComputedMetrics;

/** Runs the trials of one market, or of one account over many. @returns False where time, room or a stop ended them early. */
function runTrials(task: SliceTask | PortfolioSliceTask, state: SliceState): boolean {
  const { table, until, control, pool } = state;
  const { trials, returnsMax }: TrialsTask = task;
  pool.columns = new ColumnCache(COLUMN_BYTES_MAX);
  const measure = "markets" in task ? inMarkets(task, state) : inMarket(task, state);
  for (const trial of trials) {
    if (isAskedToStop(control)) return false;
    if (table.rows > 0 && (performance.now() >= until || table.returnsCount >= returnsMax)) return false;
    try {
      table.add(trial, measure(trial));
    } catch (error) {
      if (!(error instanceof RunStopped) || table.rows === 0) throw error;
      return false;
    } finally {
      // No column of a result outlives its trial.
      pool.reclaim();
    }
  }
  return true;
}

function inMarket(task: SliceTask, { control, pool }: SliceState): Measure {
  const { slug, trials: _trials, own, budgetMs: _budgetMs, returnsMax: _returnsMax, seed: _seed, ...settings } = task;
  const builtin = findBuiltin(slug);
  if (builtin === undefined) throw new Error(`there is no built-in strategy ${slug}`);
  const cutter = new LookbackCutter(task);
  return ({ parameters, lookback }) => {
    const execution = executionOf(task.execution, parameters);
    const strategy = builtin.create({ ...own, ...ownParameters(parameters) }, execution);
    return measureTrial({ ...settings, ...cutter.cut(lookback), execution, strategy, control, pool });
  };
}

function inMarkets(task: PortfolioSliceTask, { control, pool }: SliceState): Measure {
  const { slug, own, positionsMax, rank, markets: _markets, ...settings } = task;
  const cutter = new MarketsCutter(task);
  return ({ parameters, lookback }) => {
    const execution = executionOf(task.execution, parameters);
    const varied = { ...own, ...ownParameters(parameters) };
    const make = strategyMaker({ slug, parameters: varied, execution, positionsMax, rank });
    if (make === null) throw new Error(`there is no built-in strategy ${slug}`);
    const { markets, rows } = cutter.cut(lookback);
    const strategy = make(markets.length);
    return measurePortfolio({ ...settings, markets, execution, strategy, control, pool }, rows);
  };
}
