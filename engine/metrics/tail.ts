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
  const sorted = returns.slice().sort();
  const last = sorted.length - 1;
  const quantile = quantileOf(sorted, 0.05);
  let tail = 0;
  let count = 0;
  while (count <= last && sorted[count]! <= quantile) {
    tail += sorted[count]!;
    count++;
  }
  return {
    var_95: -quantile,
    cvar_95: -(tail / count),
    best_day: sorted[last]!,
    worst_day: sorted[0]!,
    tail_ratio: ratio(Math.abs(quantileOf(sorted, 0.95)), Math.abs(quantile), NO_TAIL, RETURN_NOISE),
  };
}

/** @param sorted Rising. */
function quantileOf(sorted: Float64Array, fraction: number): number {
  const last = sorted.length - 1;
  const position = last * fraction;
  const below = Math.floor(position);
  const lower = sorted[below]!;
  return lower + (position - below) * (sorted[Math.min(below + 1, last)]! - lower);
}
