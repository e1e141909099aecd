import { impliedTrials } from "./sharpe.ts";
import { resamplesOf } from "./luck/considered_trials.ts";
import { measureOf } from "./luck/measures.ts";
import { checkReality } from "./luck/reality_check.ts";

/**
 * Counts the independent trials that some runs amount to: the best Sharpe ratio of so many without skill has the same median as theirs.
 *
 * @param returns Daily returns, all of one length; 0 on days of which a run knows nothing.
 * @returns From 1 to their number.
 */
export function countIndependent(returns: readonly Float64Array[]): number {
  const days = returns[0]?.length ?? 0;
  if (returns.length < 2 || days < 2) return returns.length;
  const measure = measureOf("sharpe", 1);
  const resamples = resamplesOf(measure);
  const check = checkReality({ returns, best: 0, measure, direction: "max", less: 0, resamples, seed: 0 });
  return Math.min(returns.length, impliedTrials(check.expected_best, days));
}
