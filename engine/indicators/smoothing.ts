import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { sma } from "./sma.ts";

/** The next average: a step of this weight from the last one towards the next value. */
export function towards(average: number, value: number, weight: number): number {
  return average + weight * (value - average);
}

/**
 * Candles after which the start of a smoothing of this weight no longer matters: less than three billionths of it are
 * left, since (1 - w)^(20 / w) is below e^-20.
 */
export function settlingCandles(weight: number): number {
  return Math.ceil(20 / weight);
}

/**
 * Exponential smoothing: average += weight x (value - average), starting at the mean of the first `period` values. This
 * form keeps the average of equal values exactly equal to them.
 *
 * NaN at the start of a column (another indicator's warm-up) is skipped.
 *
 * @param pool Gives the column its memory; null: new memory.
 * @returns One average a candle, in the unit of `values`; NaN until `period` values exist.
 */
export function smooth(
  values: Float64Array,
  period: number,
  weight: number,
  pool: BufferPool | null,
): Float64Array {
  const count = values.length;
  const averages = takeDoubles(pool, count);
  let first = 0;
  while (first < count && Number.isNaN(values[first]!)) first++;
  const begin = first + period - 1;
  averages.fill(NaN, 0, begin);
  if (begin >= count) return averages;
  let average = sma(values.subarray(first, begin + 1), period)[period - 1]!;
  averages[begin] = average;
  for (let i = begin + 1; i < count; i++) {
    average = towards(average, values[i]!, weight);
    averages[i] = average;
  }
  return averages;
}
