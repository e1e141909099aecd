/**
 * Quantiles of values: position `share x (count - 1)` among the sorted ones, and between two of them in proportion.
 *
 * @param sorted Ascending, at least one.
 * @param share From 0 to 1.
 * @see R. J. Hyndman, Y. Fan (1996), "Sample Quantiles in Statistical Packages", The American Statistician 50(4): type 7.
 */
export function quantile(sorted: Float64Array, share: number): number {
  const position = share * (sorted.length - 1);
  const below = Math.floor(position);
  const [low, high] = [sorted[below]!, sorted[Math.min(below + 1, sorted.length - 1)]!];
  return low === high ? low : low + (position - below) * (high - low);
}

/** The middle of values in any order, at least one. */
export function median(values: Float64Array): number {
  return quantile(values.toSorted(), 0.5);
}
