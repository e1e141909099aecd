/** The trials of a slice of an optimization of a built-in strategy. */
import { TrialTable } from "../../db/codec/trial_table.ts";
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { ColumnCache } from "../../engine/column_cache.ts";
import { isAskedToStop } from "../../engine/control.ts";
import { measureTrial, RunStopped } from "../../engine/run.ts";
import { executionOf, ownParameters } from "../../research/execution_axes.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { LostTrials, SliceRun, SliceTask } from "../common/protocol.ts";
import { LookbackCutter } from "./trial_candles.ts";

/** Indicators that trials share: those of a year of minutes with fifteen periods. */
const COLUMN_BYTES_MAX = 1 << 26;

/**
 * Runs the trials of a slice one after the other, until its time or its room for daily returns is used up. All share one memory.
 *
 * @param tasks One a market, in the order of their trials.
 * @param control The slice's control words: a stop ends it after the trials that are done.
 * @param pool Unused memory; nobody else uses it meanwhile.
 */
export function runSlice(
  tasks: readonly (SliceTask | LostTrials)[],
  control: Int32Array,
  pool: BufferPool,
): Outcome<SliceRun> {
  const first = tasks.find((task) => "slug" in task);
  const table = new TrialTable(first ?? { objective: "sharpe", direction: "max", returnsStride: 1 });
  const until = performance.now() + (first?.budgetMs ?? 0);
  try {
    for (const task of tasks) {
      if ("error" in task) { for (const trial of task.trials) table.addFailed(trial, task.error); }
      else if (!runMarket(task, { table, until, control, pool })) break;
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

/** Runs the trials of one market. @returns False where time, room or a stop ended them early. */
function runMarket(task: SliceTask, { table, until, control, pool }: SliceState): boolean {
  const { slug, trials, own, budgetMs: _budgetMs, returnsMax, seed: _seed, ...settings } = task;
  const builtin = findBuiltin(slug);
  if (builtin === undefined) throw new Error(`there is no built-in strategy ${slug}`);
  const cutter = new LookbackCutter(task);
  pool.columns = new ColumnCache(COLUMN_BYTES_MAX);
  for (const trial of trials) {
    if (isAskedToStop(control)) return false;
    if (table.rows > 0 && (performance.now() >= until || table.returnsCount >= returnsMax)) return false;
    const execution = executionOf(task.execution, trial.parameters);
    const strategy = builtin.create({ ...own, ...ownParameters(trial.parameters) }, execution);
    try {
      table.add(
        trial,
        measureTrial({ ...settings, ...cutter.cut(trial.lookback), execution, strategy, control, pool }),
      );
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
