import type { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import {
  countOtherTries,
  countRunTrials,
  findRangeOptimizations,
  type RangeOptimization,
  type RunTrials,
  type TriedMarket,
} from "../../db/run_trials.ts";
import { resolveExecution } from "../../engine/execution.ts";
import type { Measured } from "../../engine/metrics/measured.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { describeTries, type Tried } from "../../research/luck/tries.ts";
import { deflatedByChance } from "../../research/sharpe.ts";
import { candleAxesOf } from "../../research/candle_axes.ts";
import { executionOf, isExecutionAxis } from "../../research/execution_axes.ts";
import { type ParameterValue, pointAt, valueAt } from "../../research/space.ts";
import type { Context } from "../common/trpc.ts";
import { executionRequestSchema } from "../runs/execution_request.ts";
import type { Parameters } from "../strategies/parameters.ts";
import type { runTrialsSchema } from "./backtest_records.ts";
import { compareRuns } from "./compared_runs.ts";

/** The tries that a completed backtest is one of; null for any other. */
export async function readRunTrials(
  ctx: Pick<Context, "db" | "rowsWorker" | "userTurns">,
  row: Backtest,
): Promise<z.infer<typeof runTrialsSchema> | null> {
  if (row.result === null) return null;
  const [tries, ranged] = await Promise.all([countRunTrials(ctx.db, row), findRangeOptimizations(ctx.db, row)]);
  // A trial that is run again as a backtest is the same try.
  const isTrial = ranged.some((optimization) => isTrialOf(row, optimization));
  const counted = await countTries(ctx, row, { tries, trial: isTrial ? row.runKey : undefined });
  const { result } = row;
  const deflateAmong = (count: number) => deflate(result, count);
  return concludeTries(counted, {
    sharpe: result.metrics.sharpe,
    ...whereOf(row.parameters),
    deflated: deflateAmong(counted.independent_tries),
    others: await deflateAmongOthers(ctx.db, { row, tries, independent: counted.independent_tries }, deflateAmong),
  });
}

/** Deflates a result among all tries of its owner on the market: a new name for a strategy leaves the others counted. */
export async function deflateAmongOthers(
  db: Context["db"],
  { row, tries, independent }: {
    readonly row: TriedMarket;
    readonly tries: RunTrials;
    readonly independent: number;
  },
  deflateAmong: (independent: number) => Measured,
): Promise<Tried["others"]> {
  const others = await countOtherTries(db, row, tries);
  return { count: others.count, deflated: deflateAmong(independent + others.independent) };
}

/** By what the tries of a record are found, in words. */
export function whereOf(parameters: Parameters): Pick<Tried, "where"> {
  const isOne = parameters["instruments"] === undefined && parameters["universe"] === undefined;
  return isOne ? {} : { where: "with this benchmark" };
}

/** Concludes from the tries around a run. */
export function concludeTries(
  counted: Awaited<ReturnType<typeof countTries>>,
  found: Omit<Tried, "runs" | "trials">,
): z.infer<typeof runTrialsSchema> {
  const { backtests: runs, optimization_trials: trials } = counted;
  const figures = { deflated_sharpe: found.deflated, deflated_sharpe_among_all: found.others.deflated };
  const [own, all] = [figures.deflated_sharpe, figures.deflated_sharpe_among_all];
  return {
    ...counted,
    other_tries: found.others.count,
    deflated_sharpe: typeof own === "number" ? own : null,
    deflated_sharpe_among_all: typeof all === "number" ? all : null,
    undefined_figures: Object.fromEntries(
      Object.entries(figures).flatMap(([name, value]) => typeof value === "number" ? [] : [[name, value.reason]]),
    ),
    conclusion: describeTries({ runs, trials, ...found }),
  };
}

/**
 * Counts the tries around a run, and the independent ones that they amount to.
 *
 * @param trial The run key of the one that is a trial of an optimization, too; undefined where none is.
 */
export async function countTries(
  ctx: Pick<Context, "db" | "rowsWorker" | "userTurns">,
  row: TriedMarket,
  { tries, trial }: { readonly tries: RunTrials; readonly trial?: string | null | undefined },
) {
  const runs = tries.backtests - (trial === undefined ? 0 : 1);
  const compared = runs < 2 ? { count: runs, independent: runs } : await compareRuns(ctx, row, trial ?? null);
  // Runs that are stored or deleted meanwhile are counted by the next request.
  const assumed = Math.max(0, runs - compared.count);
  return {
    backtests: tries.backtests,
    optimization_trials: tries.optimizationTrials,
    independent_tries: Math.max(1, compared.independent + assumed + tries.independentTrials),
    assumed_tries: assumed + tries.unmeasuredTrials,
  };
}

/** True if a backtest has the settings of one of an optimization's points. */
function isTrialOf({ parameters, startDate, endDate }: Backtest, { space, ...fixed }: RangeOptimization): boolean {
  const dates = candleAxesOf(space).map(({ name }) => name);
  if (!dates.includes("start_date") && startDate !== fixed.startDate) return false;
  if (!dates.includes("end_date") && endDate !== fixed.endDate) return false;
  const own: Parameters = parameters;
  const range: Parameters = { start_date: startDate, end_date: endDate, timeframe: own["timeframe"] };
  const hasValue = (name: string, value: ParameterValue) =>
    isExecutionAxis(name)
      ? executionText(own, { [name]: value }) === executionText(own, {})
      : value === (dates.includes(name) ? range : own)[name];
  const isPoint = space.axes.every((axis) =>
    Array.from({ length: axis.count }, (_, i) => valueAt(axis, i)).some((value) => hasValue(axis.name, value))
  );
  // How the strategy was named is no setting.
  const names = ["runtime", "execution", ...space.axes.map(({ name }) => name)];
  // Both were stored as JSON, whose keys the database has put in order. The fixed ones may hold defaults of the axes.
  const rest = (parameters: object) =>
    JSON.stringify(Object.entries(parameters).filter(([name]) => !names.includes(name)));
  const first = pointAt(space, 0);
  return isPoint && rest(parameters) === rest(fixed.parameters) &&
    executionText(parameters, first) === executionText(fixed.parameters, first);
}

/** The execution of a run at the settings of a point, as text. */
function executionText({ execution = {} }: Parameters, point: Parameters): string {
  return JSON.stringify(executionOf(resolveExecution(executionRequestSchema.parse(execution), null), point));
}

function deflate({ metrics, undefined_metrics: reasons, execution }: BacktestResult, trials: number): Measured {
  const { sharpe, skew, kurtosis, probabilistic_sharpe: probability } = metrics;
  if (sharpe === null || skew === null || kurtosis === null || typeof probability !== "number") {
    return { reason: reasons["probabilistic_sharpe"] ?? "the result is from before the probabilistic Sharpe ratio" };
  }
  const daily = sharpe / Math.sqrt(execution.periodsPerYear ?? NaN);
  return deflatedByChance({ sharpe: daily, skew, kurtosis }, probability, trials);
}
