import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { countRunTrials, findRangeOptimizations, type RangeOptimization } from "../../db/run_trials.ts";
import { resolveExecution } from "../../engine/execution.ts";
import type { Measured } from "../../engine/metrics/measured.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { deflatedByChance } from "../../research/sharpe.ts";
import { candleAxesOf } from "../../research/candle_axes.ts";
import { executionOf, isExecutionAxis } from "../../research/execution_axes.ts";
import { type ParameterValue, pointAt, valueAt } from "../../research/space.ts";
import type { Parameters } from "../strategies/parameters.ts";
import { executionRequestSchema } from "./execution_request.ts";

/** How many tries of its owner a run is one of, and what is left of its Sharpe ratio. */
export const runTrialsSchema = z.object({
  backtests: z.int(),
  optimization_trials: z.number(),
  /** The number of independent tries that all of them amount to. */
  independent_tries: z.number(),
  /** The tries that count as independent by assumption: their returns were not compared. */
  assumed_tries: z.number(),
  deflated_sharpe: z.number().nullable(),
  /** The reason for each null. */
  undefined_figures: z.record(z.string(), z.string()),
}).meta({ id: "RunTrials" });

/** The tries that a completed backtest is one of; null for any other. */
export async function readRunTrials(db: Db, row: Backtest): Promise<z.infer<typeof runTrialsSchema> | null> {
  if (row.result === null) return null;
  const [tries, ranged] = await Promise.all([countRunTrials(db, row), findRangeOptimizations(db, row)]);
  // A trial that is run again as a backtest is the same try.
  const others = tries.backtests - (ranged.some((optimization) => isTrialOf(row, optimization)) ? 1 : 0);
  const independent = Math.max(1, others + tries.independentTrials);
  const deflated = deflate(row.result, independent);
  return {
    backtests: tries.backtests,
    optimization_trials: tries.optimizationTrials,
    independent_tries: independent,
    assumed_tries: others + tries.unmeasuredTrials,
    deflated_sharpe: typeof deflated === "number" ? deflated : null,
    undefined_figures: typeof deflated === "number" ? {} : { deflated_sharpe: deflated.reason },
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
