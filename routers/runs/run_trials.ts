import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { countRunTrials } from "../../db/run_trials.ts";
import type { Measured } from "../../engine/metrics/measured.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { deflatedByChance } from "../../research/sharpe.ts";

/** How many tries of its owner a run is one of, and what is left of its Sharpe ratio. */
export const runTrialsSchema = z.object({
  backtests: z.int(),
  optimization_trials: z.number(),
  deflated_sharpe: z.number().nullable(),
  /** The reason for each null. */
  undefined_figures: z.record(z.string(), z.string()),
}).meta({ id: "RunTrials" });

/** The tries that a completed backtest is one of; null for any other. */
export async function readRunTrials(db: Db, row: Backtest): Promise<z.infer<typeof runTrialsSchema> | null> {
  if (row.result === null) return null;
  const { backtests, optimizationTrials } = await countRunTrials(db, row);
  const deflated = deflate(row.result, backtests + optimizationTrials);
  return {
    backtests,
    optimization_trials: optimizationTrials,
    deflated_sharpe: typeof deflated === "number" ? deflated : null,
    undefined_figures: typeof deflated === "number" ? {} : { deflated_sharpe: deflated.reason },
  };
}

function deflate({ metrics, undefined_metrics: reasons, execution }: BacktestResult, trials: number): Measured {
  const { sharpe, skew, kurtosis, probabilistic_sharpe: probability } = metrics;
  if (sharpe === null || skew === null || kurtosis === null || typeof probability !== "number") {
    return { reason: reasons["probabilistic_sharpe"] ?? "the result is from before the probabilistic Sharpe ratio" };
  }
  const daily = sharpe / Math.sqrt(execution.periodsPerYear ?? NaN);
  return deflatedByChance({ sharpe: daily, skew, kurtosis }, probability, trials);
}
