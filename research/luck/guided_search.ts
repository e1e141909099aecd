/**
 * A guided search tries points near those that were good by luck, so that its trials are chosen by the days that judge them: on other days
 * it would have settled elsewhere. Its random start, which knows no result, tells how many other places there are.
 */

/**
 * Counts the independent trials in the start of a search, m: the best of m is as often above the median of the start's best as that is.
 *
 * @param values Of all trials in each resample, a row a resample; more is better.
 * @param trials How many a row has.
 * @param starts Places of the start in a row.
 * @returns From 1 to the number of the starts; 1 without any, and where no other trial followed.
 */
export function countStarts(values: Float64Array, trials: number, starts: readonly number[]): number {
  if (starts.length < 2 || starts.length === trials) return 1;
  const bests = Float64Array.from({ length: values.length / trials }, (_, resample) => {
    return starts.reduce((most, place) => Math.max(most, values[resample * trials + place]!), -Infinity);
  });
  const bound = bests.sort()[bests.length >> 1]!;
  let above = 0;
  for (let row = 0; row < values.length; row += trials) {
    for (const place of starts) if (values[row + place]! >= bound) above++;
  }
  const single = above / (bests.length * starts.length);
  return Math.min(starts.length, Math.max(1, -Math.LN2 / Math.log1p(-single)));
}

/** The share of cases in which at least one of some searches reaches what one alone reaches in a share of them. */
export function amongSearches(share: number, searches: number): number {
  return searches === 1 ? share : -Math.expm1(searches * Math.log1p(-share));
}

/** The best of some searches, from sorted values of the best of one: as many values, in order. */
export function bestOfSearches(sorted: Float64Array, searches: number): Float64Array {
  const count = sorted.length;
  if (searches === 1) return sorted;
  return sorted.map((_, i) => sorted[Math.min(count - 1, Math.floor(((i + 0.5) / count) ** (1 / searches) * count))]!);
}
