import { type Measured, RETURN_NOISE } from "../engine/metrics/measured.ts";
import { measureMoments, normalProbability } from "../engine/metrics/moments.ts";
import { sharpeVariance } from "../engine/metrics/ratios.ts";
import { FOUR_RETURNS, NO_DEVIATION } from "../engine/metrics/reasons.ts";
import { normalQuantile, upperTail } from "./normal.ts";

/** The Sharpe ratio of a series of returns, and what decides how sure it is. Nothing is annualised. */
export interface SharpeEstimate {
  readonly sharpe: number;
  /** How many returns. */
  readonly count: number;
  readonly skew: number;
  /** In excess of the normal distribution's. */
  readonly kurtosis: number;
}

const EULER_MASCHERONI = 0.5772156649015329;
/** The confidence that minimumTrackRecord() asks for. */
const CONFIDENCE = 0.95;

const NOT_ABOVE = "its Sharpe ratio is not above what the best of as many trials without skill would have";
const NOT_POSITIVE = "its Sharpe ratio is not above 0";

/**
 * Estimates the Sharpe ratio of returns.
 *
 * @param returns Fractions per period, oldest first.
 * @param riskFree Per period, as the returns are.
 */
export function estimateSharpe(returns: Float64Array, riskFree: number): SharpeEstimate | { readonly reason: string } {
  if (returns.length < 4) return { reason: FOUR_RETURNS };
  const { mean, standardDeviation: deviation, skewness: skew, excessKurtosis: kurtosis } = measureMoments(returns);
  if (deviation <= RETURN_NOISE) return { reason: NO_DEVIATION };
  return { sharpe: (mean - riskFree) / deviation, count: returns.length, skew, kurtosis };
}

/**
 * Probability that the true Sharpe ratio is above a threshold. With the threshold of expectedBest() it is the deflated
 * Sharpe ratio.
 *
 * @param threshold Not annualised.
 * @see D. H. Bailey, M. López de Prado (2012), "The Sharpe Ratio Efficient Frontier", Journal of Risk 15(2).
 * @see D. H. Bailey, M. López de Prado (2014), "The Deflated Sharpe Ratio", Journal of Portfolio Management 40(5).
 */
export function probabilisticSharpe(estimate: SharpeEstimate, threshold: number): Measured {
  const variance = sharpeVariance(estimate.sharpe, estimate.skew, estimate.kurtosis);
  if (typeof variance !== "number") return variance;
  return normalProbability((estimate.sharpe - threshold) * Math.sqrt(estimate.count - 1) / Math.sqrt(variance));
}

/**
 * The Sharpe ratio that the best of independent trials without skill is expected to have.
 *
 * @param trials How many independent ones, 1 or more; it need not be whole.
 * @param variance Of the trials' Sharpe ratios.
 * @returns In the unit of the ratios; 0 for a single trial.
 * @see D. H. Bailey, M. López de Prado (2014), as above, equation 1.
 */
export function expectedBest(trials: number, variance: number): number {
  if (trials <= 1) return 0;
  const typical = -normalQuantile(1 / trials);
  const rare = -normalQuantile(1 / (trials * Math.E));
  return Math.max(0, Math.sqrt(variance) * ((1 - EULER_MASCHERONI) * typical + EULER_MASCHERONI * rare));
}

/** The variance of Sharpe ratios without skill over `count` returns; nothing is annualised. */
export function varianceByChance(count: number): number {
  return 1 / (count - 1);
}

/**
 * The number of independent trials without skill whose best ratio has the same median as that of some trials.
 *
 * @param medianBest The median of the best Sharpe ratio of these trials without skill, not annualised.
 * @param count Returns of each.
 * @returns At least 1.
 */
export function impliedTrials(medianBest: number, count: number): number {
  const score = medianBest / Math.sqrt(varianceByChance(count));
  // The best of n is at most x with a probability of N(x)^n.
  return score > 0 ? Math.max(1, Math.LN2 / -Math.log1p(-upperTail(score))) : 1;
}

/**
 * The deflated Sharpe ratio of a run of which only the number of trials around it is known.
 *
 * The trials count as independent ones without skill over as many returns: by chance alone, their ratios then have the
 * variance 1 / (returns - 1), and the returns cancel out.
 *
 * @param estimate Not annualised.
 * @param probability Of probabilisticSharpe() with the threshold 0. Next to 0 or 1 it has few digits, and so has the answer.
 * @param trials 1 or more, the run included.
 * @see D. H. Bailey, M. López de Prado (2014), as above.
 */
export function deflatedByChance(
  { sharpe, skew, kurtosis }: Omit<SharpeEstimate, "count">,
  probability: number,
  trials: number,
): Measured {
  const variance = sharpeVariance(sharpe, skew, kurtosis);
  if (typeof variance !== "number") return variance;
  return normalProbability(scoreOf(probability) - expectedBest(trials, 1) / Math.sqrt(variance));
}

/**
 * The deflated Sharpe ratio of the best of some trials, where they are not the only ones.
 *
 * @param own Of these trials alone: how many independent ones, and the best's probabilisticSharpe() with the threshold 0 and with
 * expectedBest() of trials that vary by chance. Next to 0 or 1 both have few digits, and so has the answer.
 * @param trials All independent ones, not fewer. Where the best was the only trial, its returns count as normal ones.
 */
export function deflatedAmongMore(
  own: { readonly trials: number; readonly probability: number; readonly deflated: number },
  trials: number,
): number {
  const score = scoreOf(own.probability);
  const expected = expectedBest(own.trials, 1);
  // The expectation lowers the score by this factor, one over the root of the ratio's variance.
  const weight = expected > 0 ? (score - scoreOf(own.deflated)) / expected : 1;
  return normalProbability(score - weight * expectedBest(trials, 1));
}

/** The standard normal value of a probability, which may be 0 or 1 to the last digit. */
function scoreOf(probability: number): number {
  return normalQuantile(Math.max(Number.MIN_VALUE, Math.min(probability, 1 - Number.EPSILON / 2)));
}

/**
 * How many returns it takes until the Sharpe ratio is above a threshold with a confidence of 95 %.
 *
 * @param threshold Not annualised.
 * @see D. H. Bailey, M. López de Prado (2012), as above: the minimum track record length.
 */
export function minimumTrackRecord(estimate: SharpeEstimate, threshold: number): Measured {
  const distance = estimate.sharpe - threshold;
  if (!(distance > 0)) return { reason: threshold > 0 ? NOT_ABOVE : NOT_POSITIVE };
  const variance = sharpeVariance(estimate.sharpe, estimate.skew, estimate.kurtosis);
  return typeof variance === "number" ? 1 + variance * (normalQuantile(CONFIDENCE) / distance) ** 2 : variance;
}

/**
 * The Sharpe ratio that is as improbable in a single trial as this one is as the best of many.
 *
 * @param trials How many independent ones, 1 or more.
 * @returns Not annualised, from 0 up to the estimate.
 * @see C. R. Harvey, Y. Liu (2015), "Backtesting", Journal of Portfolio Management 42(1): p of many = 1 - (1 - p)^trials.
 */
export function haircutSharpe({ sharpe, count }: SharpeEstimate, trials: number): Measured {
  if (!(sharpe > 0)) return { reason: NOT_POSITIVE };
  const root = Math.sqrt(count);
  const single = 2 * upperTail(sharpe * root);
  const many = -Math.expm1(trials * Math.log1p(-single));
  // So improbable that it has no digits: no number of trials explains it.
  if (many === 0) return sharpe;
  return Math.min(sharpe, Math.max(0, -normalQuantile(many / 2) / root));
}
