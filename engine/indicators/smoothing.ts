import { sma } from "./sma.ts";

/**
 * Exponential smoothing: average += weight x (value - average), begun at the mean of the first `period` values.
 *
 * Values that are NaN at the start of a column (another indicator's warm-up) are stepped over. Written as a step towards
 * the value, so that equal values stay exactly themselves.
 *
 * @returns One average a candle, in the unit of `values`; NaN until `period` values exist.
 */
export function smooth(values: Float64Array, period: number, weight: number): Float64Array {
  const count = values.length;
  const averages = new Float64Array(count).fill(NaN);
  let first = 0;
  while (first < count && Number.isNaN(values[first]!)) first++;
  const begin = first + period - 1;
  if (begin >= count) return averages;
  let average = sma(values.subarray(first, begin + 1), period)[period - 1]!;
  averages[begin] = average;
  for (let i = begin + 1; i < count; i++) {
    average += weight * (values[i]! - average);
    averages[i] = average;
  }
  return averages;
}
