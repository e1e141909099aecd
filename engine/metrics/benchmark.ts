import type { DailyColumns } from "./daily.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio } from "./measured.ts";
import { mean, sum } from "./moments.ts";
import { NO_MOVEMENT, TWO_DAYS } from "./reasons.ts";

/**
 * Beta and Jensen's alpha against holding the instrument itself, from daily returns.
 *
 * Beta is covariance / variance of the instrument. Alpha is (mean of equity's returns - riskFree - beta x (mean of the
 * instrument's - riskFree)) x periodsPerYear, a fraction per year, with riskFree = riskFreeRate / periodsPerYear. The
 * first day is left out of both, because the instrument has no close before it.
 *
 * @see M. C. Jensen (1968), "The Performance of Mutual Funds in the Period 1945-1964", Journal of Finance 23(2).
 */
export function benchmarkMetrics(
  input: MetricsInput,
  daily: DailyColumns,
): { readonly alpha: Measured; readonly beta: Measured } {
  const market = daily.closeReturns;
  if (market.length < 2) {
    const few = { reason: TWO_DAYS };
    return { alpha: few, beta: few };
  }
  const own = daily.returns.subarray(1);
  const ownMean = mean(own);
  const marketMean = mean(market);
  const products = new Float64Array(market.length);
  const squares = new Float64Array(market.length);
  for (let i = 0; i < market.length; i++) {
    const difference = market[i]! - marketMean;
    products[i] = (own[i]! - ownMean) * difference;
    squares[i] = difference * difference;
  }
  // Squares of rounding errors of returns (1e-14 each) are no movement.
  const beta = ratio(sum(products), sum(squares), NO_MOVEMENT, market.length * 1e-28);
  if (typeof beta !== "number") return { alpha: beta, beta };
  const riskFree = input.riskFreeRate / input.periodsPerYear;
  return { alpha: (ownMean - riskFree - beta * (marketMean - riskFree)) * input.periodsPerYear, beta };
}
