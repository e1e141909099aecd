/** Trials of a user's code of which each is one account over many markets. */
import type { PortfolioRequest } from "../../../engine/portfolio/portfolio.ts";
import { measurePortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import type { Outcome } from "../../common/outcome.ts";
import type { MarketsTask } from "../../common/protocol.ts";
import { requestMore, runEach, type Trial, type TrialListener, type TrialsShared } from "../trials.ts";
import { MarketsCutter } from "../trial_markets.ts";
import type { LookbackRequest, TrialOutcome } from "../task.ts";
import type { MarketsTrialsRun } from "../trials_task.ts";
import { warmupOf } from "./run_markets.ts";

/** Makes the strategy of a trial over the markets of a task, whose marks are `instants`. @throws {RunError} {PointRefused} */
export type MakeMarketsStrategy = (
  parametersJson: string,
  task: MarketsTask,
  instants: Float64Array,
) => PortfolioRequest["strategy"];

/**
 * Runs trials over many markets until their time is used up, and reports each as it ends.
 *
 * @returns As runEach().
 */
export function runMarketsTrials(
  job: MarketsTrialsRun,
  make: MakeMarketsStrategy,
  listener: TrialListener,
): Outcome<object> | LookbackRequest {
  const cutter = new MarketsCutter(job.task, job.lookbackWanted);
  return runEach(job, (trial, shared) => measure(job, trial, make, { cutter, ...shared }), listener);
}

/** @throws {PointRefused} {RunError} */
function measure(
  { task, lookback, lookbackWanted }: MarketsTrialsRun,
  { parametersJson, execution }: Trial,
  make: MakeMarketsStrategy,
  { cutter, ...shared }: TrialsShared & { readonly cutter: MarketsCutter },
): TrialOutcome | LookbackRequest {
  const begin = (candles: number) => {
    const { markets, rows } = cutter.cut(candles);
    const own = { ...task, markets, execution };
    return { own, rows, strategy: make(parametersJson, own, rows.timeline.instant) };
  };
  let { own, rows, strategy } = begin(lookback);
  const warmup = warmupOf(strategy);
  // As a backtest loads them again: with the warm-up that the strategies turned out to ask for.
  if (execution.lookback && warmup > lookback) {
    const holdsMore = task.markets.some(({ firstIndex }) => firstIndex === lookbackWanted);
    if (warmup > lookbackWanted && holdsMore) return requestMore(warmup);
    if (lookbackWanted > lookback) ({ own, rows, strategy } = begin(warmup));
  }
  const { seed: _seed, positionsMax: _max, rank: _rank, checksIntegrity: _checks, ...settings } = own;
  return { type: "completed", ...measurePortfolio({ ...settings, strategy, ...shared }, rows) };
}
