import type { DailyColumns } from "./daily.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio, RETURN_NOISE } from "./measured.ts";
import { FOUR_RETURNS, NO_DEVIATION, NO_SHORTFALL, NO_VARIANCE, THREE_RETURNS, TWO_RETURNS } from "./reasons.ts";
import { excessKurtosis, mean, normalProbability, skewness, standardDeviation, sum } from "./moments.ts";

export interface RatioMetrics {
  readonly annual_volatility: Measured;
  readonly sharpe: Measured;
  readonly sortino: Measured;
  readonly omega: Measured;
  readonly skew: Measured;
  readonly kurtosis: Measured;
  readonly probabilistic_sharpe: Measured;
}

const FEW_RETURNS = { reason: TWO_RETURNS };

/**
 * Measures risk and reward of the daily returns (simple, UTC days), annualised with `periodsPerYear`. Each day has the
 * same part of the risk-free rate (rate / periodsPerYear).
 *
 * @see W. F. Sharpe (1994), "The Sharpe Ratio", Journal of Portfolio Management 21(1).
 * @see F. A. Sortino, L. N. Price (1994), "Performance Measurement in a Downside Risk Framework", Journal of Investing 3(3).
 * @see C. Keating, W. F. Shadwick (2002), "A Universal Performance Measure", Journal of Performance Measurement 6(3).
 * @see D. H. Bailey, M. López de Prado (2012), "The Sharpe Ratio Efficient Frontier", Journal of Risk 15(2).
 */
export function ratioMetrics(
  input: Pick<MetricsInput, "periodsPerYear" | "riskFreeRate">,
  daily: Pick<DailyColumns, "returns">,
): RatioMetrics {
  const { returns } = daily;
  const riskFree = input.riskFreeRate / input.periodsPerYear;
  const yearRoot = Math.sqrt(input.periodsPerYear);
  const deviation = standardDeviation(returns);
  const excess = mean(returns) - riskFree;
  const { gains, losses, lossSquares } = splitAt(returns, riskFree);
  const downside = Math.sqrt(lossSquares / returns.length);
  const enough = returns.length >= 2;
  return {
    annual_volatility: enough ? deviation * yearRoot : FEW_RETURNS,
    sharpe: enough ? ratio(excess * yearRoot, deviation, NO_DEVIATION, RETURN_NOISE) : FEW_RETURNS,
    sortino: enough ? ratio(excess * yearRoot, downside, NO_SHORTFALL, RETURN_NOISE) : FEW_RETURNS,
    omega: ratio(gains, losses, NO_SHORTFALL, RETURN_NOISE),
    ...shapeMetrics(returns, deviation, excess),
  };
}

function shapeMetrics(returns: Float64Array, deviation: number, excess: number) {
  const flat = deviation <= RETURN_NOISE;
  const noneFor = (reason: string): Measured => ({ reason: flat ? NO_DEVIATION : reason });
  const skew = skewness(returns);
  const kurtosis = excessKurtosis(returns);
  return {
    skew: flat || returns.length < 3 ? noneFor(THREE_RETURNS) : skew,
    kurtosis: flat || returns.length < 4 ? noneFor(FOUR_RETURNS) : kurtosis,
    probabilistic_sharpe: flat || returns.length < 4
      ? noneFor(FOUR_RETURNS)
      : probabilisticSharpe(excess / deviation, returns.length, skew, kurtosis),
  };
}

/** Probability that the true Sharpe ratio is above zero, given a daily one measured over `days`. */
function probabilisticSharpe(sharpe: number, days: number, skew: number, kurtosis: number): Measured {
  const variance = sharpeVariance(sharpe, skew, kurtosis);
  if (typeof variance !== "number") return variance;
  return normalProbability(sharpe * Math.sqrt(days - 1) / Math.sqrt(variance));
}

/**
 * Variance of a Sharpe ratio's estimate, times the returns less one: 1 - skew x s + (kurtosis + 2) / 4 x s^2.
 *
 * @param sharpe Not annualised.
 * @param kurtosis In excess of the normal distribution's.
 * @see D. H. Bailey, M. López de Prado (2012), as above.
 */
export function sharpeVariance(sharpe: number, skew: number, kurtosis: number): Measured {
  const variance = 1 - skew * sharpe + ((kurtosis + 2) / 4) * sharpe * sharpe;
  // It is NaN where the squares of huge returns overflow.
  return variance > 0 ? variance : { reason: NO_VARIANCE };
}

/** Sums of the distances above and below a threshold, both positive, and of the squares of those below. */
function splitAt(returns: Float64Array, threshold: number) {
  const above = new Float64Array(returns.length);
  const below = new Float64Array(returns.length);
  const squares = new Float64Array(returns.length);
  for (let i = 0; i < returns.length; i++) {
    const difference = returns[i]! - threshold;
    if (difference > 0) above[i] = difference;
    if (difference < 0) {
      below[i] = -difference;
      squares[i] = difference * difference;
    }
  }
  return { gains: sum(above), losses: sum(below), lossSquares: sum(squares) };
}
