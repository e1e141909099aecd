import type { DailyColumns } from "./daily.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio, RETURN_NOISE } from "./measured.ts";
import { FOUR_RETURNS, NO_DEVIATION, NO_SHORTFALL, NO_VARIANCE, THREE_RETURNS, TWO_RETURNS } from "./reasons.ts";
import { measureMoments, type Moments, normalProbability } from "./moments.ts";

export interface RatioMetrics {
  readonly annual_volatility: Measured;
  readonly sharpe: Measured;
  readonly sharpe_error: Measured;
  readonly sharpe_low: Measured;
  readonly sharpe_high: Measured;
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
 * @see A. W. Lo (2002), "The Statistics of Sharpe Ratios", Financial Analysts Journal 58(4), for its error.
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
  const moments = measureMoments(returns);
  const { mean, standardDeviation: deviation } = moments;
  const excess = mean - riskFree;
  const { gains, losses, lossSquares } = splitAt(returns, riskFree);
  const downside = Math.sqrt(lossSquares / returns.length);
  const enough = returns.length >= 2;
  return {
    annual_volatility: enough ? deviation * yearRoot : FEW_RETURNS,
    sharpe: enough ? ratio(excess * yearRoot, deviation, NO_DEVIATION, RETURN_NOISE) : FEW_RETURNS,
    sortino: enough ? ratio(excess * yearRoot, downside, NO_SHORTFALL, RETURN_NOISE) : FEW_RETURNS,
    omega: ratio(gains, losses, NO_SHORTFALL, RETURN_NOISE),
    ...shapeMetrics(returns.length, moments, excess),
    ...sharpeInterval(returns, moments, { sharpe: excess / deviation, yearRoot }),
  };
}

/** Deviations of a normal distribution around 95 % of it. */
const WITHIN_95 = 1.96;

/** The standard error of the Sharpe ratio and its 95 % interval, per year. @param ratio `sharpe`: of a day. */
function sharpeInterval(
  returns: Float64Array,
  { mean, standardDeviation: deviation }: Moments,
  { sharpe, yearRoot }: { readonly sharpe: number; readonly yearRoot: number },
) {
  const count = returns.length;
  const variance: Measured = deviation <= RETURN_NOISE
    ? { reason: NO_DEVIATION }
    : count < 4
    ? { reason: FOUR_RETURNS }
    : longRunVariance(returns.map((value) => {
      const z = (value - mean) / deviation;
      return z - (sharpe / 2) * (z * z - 1);
    }));
  if (typeof variance !== "number") return { sharpe_error: variance, sharpe_low: variance, sharpe_high: variance };
  const error = Math.sqrt(variance / count) * yearRoot;
  const [low, high] = [sharpe * yearRoot - WITHIN_95 * error, sharpe * yearRoot + WITHIN_95 * error];
  return { sharpe_error: error, sharpe_low: low, sharpe_high: high };
}

/**
 * Variance of a mean of dependent values, times their number: that of each, and twice the covariances with those before it, the nearer
 * the more.
 *
 * @see W. K. Newey, K. D. West (1987), "A Simple, Positive Semi-Definite, Heteroskedasticity and Autocorrelation Consistent Covariance
 *   Matrix", Econometrica 55(3); (1994), "Automatic Lag Selection in Covariance Matrix Estimation", for the number of lags.
 */
function longRunVariance(values: Float64Array): Measured {
  const count = values.length;
  const lags = Math.min(count - 1, Math.floor(4 * (count / 100) ** (2 / 9)));
  let variance = 0;
  for (let lag = 0; lag <= lags; lag++) {
    let products = 0;
    for (let i = lag; i < count; i++) products += values[i]! * values[i - lag]!;
    variance += (lag === 0 ? 1 : 2 * (1 - lag / (lags + 1))) * products / count;
  }
  return variance > 0 ? variance : { reason: NO_VARIANCE };
}

function shapeMetrics(count: number, moments: Moments, excess: number) {
  const { standardDeviation: deviation, skewness: skew, excessKurtosis: kurtosis } = moments;
  const flat = deviation <= RETURN_NOISE;
  const noneFor = (reason: string): Measured => ({ reason: flat ? NO_DEVIATION : reason });
  return {
    skew: flat || count < 3 ? noneFor(THREE_RETURNS) : skew,
    kurtosis: flat || count < 4 ? noneFor(FOUR_RETURNS) : kurtosis,
    probabilistic_sharpe: flat || count < 4
      ? noneFor(FOUR_RETURNS)
      : probabilisticSharpe(excess / deviation, count, skew, kurtosis),
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

/**
 * Sums of the distances above and below a threshold, both positive, and of the squares of those below. A distance of zero changes no
 * sum.
 */
function splitAt(returns: Float64Array, threshold: number) {
  let [gains, gainsLost, losses, lossesLost, squares, squaresLost] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < returns.length; i++) {
    const difference = returns[i]! - threshold;
    if (difference > 0) {
      const next = gains + difference;
      gainsLost += gains >= difference ? (gains - next) + difference : (difference - next) + gains;
      gains = next;
    } else if (difference < 0) {
      const next = losses - difference;
      lossesLost += losses >= -difference ? (losses - next) - difference : (-difference - next) + losses;
      losses = next;
      const square = difference * difference;
      const nextSquares = squares + square;
      squaresLost += squares >= square ? (squares - nextSquares) + square : (square - nextSquares) + squares;
      squares = nextSquares;
    }
  }
  return { gains: gains + gainsLost, losses: losses + lossesLost, lossSquares: squares + squaresLost };
}
