import type { BufferPool } from "../buffer_pool.ts";
import { sma } from "./sma.ts";
import { stddev } from "./stddev.ts";

/**
 * Standard score: how many standard deviations (of a population) a value lies above the mean of the last `period` values.
 * It is 0 while the values do not differ.
 *
 * @param values One value a candle, oldest first, finite.
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns One score a candle, without unit; NaN for the first `period - 1`.
 * @throws {RangeError} When `period` is not a positive integer.
 */
export function zscore(values: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  const mean = sma(values, period, pool);
  const scores = stddev(values, period, pool);
  for (let i = 0; i < scores.length; i++) scores[i] = scores[i] === 0 ? 0 : (values[i]! - mean[i]!) / scores[i]!;
  return scores;
}
