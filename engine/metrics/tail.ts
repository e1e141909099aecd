import { type Measured, ratio, RETURN_NOISE } from "./measured.ts";
import { NO_TAIL } from "./reasons.ts";

export interface TailMetrics {
  readonly var_95: number;
  readonly cvar_95: number;
  readonly best_day: number;
  readonly worst_day: number;
  readonly tail_ratio: Measured;
}

/**
 * Measures the tails of the daily returns from their history, without a model.
 *
 * Value at risk is a loss, positive as drawdowns are: minus the 5% quantile, interpolated between the two nearest
 * returns (type 7 of Hyndman and Fan, the default of R and numpy). The conditional one is minus the mean of the returns
 * at or below that quantile.
 *
 * @param returns Fractions per day, at least one.
 * @see R. J. Hyndman, Y. Fan (1996), "Sample Quantiles in Statistical Packages", The American Statistician 50(4).
 * @see R. T. Rockafellar, S. Uryasev (2000), "Optimization of Conditional Value-at-Risk", Journal of Risk 2(3).
 */
export function tailMetrics(returns: Float64Array): TailMetrics {
  const last = returns.length - 1;
  // The quantiles lie between two of these.
  const count = Math.min(last, Math.floor(last * 0.05) + 1) + 1;
  const lowest = findLowest(returns, count, 1);
  const highest = findLowest(returns, count, -1);
  const low = quantileOf(last, 0.05, (rank) => lowest[rank]!);
  const high = quantileOf(last, 0.95, (rank) => -highest[last - rank]!);
  return {
    var_95: -low,
    cvar_95: -meanUpTo(low, returns, lowest),
    best_day: -highest[0]!,
    worst_day: lowest[0]!,
    tail_ratio: ratio(Math.abs(high), Math.abs(low), NO_TAIL, RETURN_NOISE),
  };
}

/**
 * The lowest values times the sign, rising; NaN counts as the largest value. A sort of all values takes ten times as long.
 *
 * @param count How many; there are at least as many values.
 */
function findLowest(values: Float64Array, count: number, sign: 1 | -1): Float64Array {
  const lowest = new Float64Array(count).fill(Infinity);
  let limit = Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = Number.isNaN(values[i]!) ? sign * Infinity : sign * values[i]!;
    if (value >= limit) continue;
    let at = count - 1;
    for (; at > 0 && lowest[at - 1]! > value; at--) lowest[at] = lowest[at - 1]!;
    lowest[at] = value;
    limit = lowest[count - 1]!;
  }
  return lowest;
}

/** @param last The largest rank. @param valueAt The value of a rank; the lowest one has 0. */
function quantileOf(last: number, fraction: number, valueAt: (rank: number) => number): number {
  const position = last * fraction;
  const below = Math.floor(position);
  const lower = valueAt(below);
  return lower + (position - below) * (valueAt(Math.min(below + 1, last)) - lower);
}

/** The mean of the values up to a quantile, which are summed from the lowest one on. */
function meanUpTo(quantile: number, values: Float64Array, lowest: Float64Array): number {
  // Further values may equal the largest of these.
  const isWhole = lowest[lowest.length - 1]! > quantile;
  const tail = isWhole ? lowest : values.filter((value) => value <= quantile).sort();
  let total = 0;
  let count = 0;
  for (; count < tail.length && tail[count]! <= quantile; count++) total += tail[count]!;
  return total / count;
}
