import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { sma } from "./sma.ts";
import { stddev } from "./stddev.ts";

/** Columns of equal length, in the unit of the prices; NaN until their averages exist. */
export interface BandColumns {
  readonly upper: Float64Array;
  readonly middle: Float64Array;
  readonly lower: Float64Array;
}

/**
 * Bollinger bands: the simple moving average, and bands `width` standard deviations (of a population) above and below it.
 *
 * @param closes One price a candle, oldest first.
 * @param period Candles, an integer of at least 1: commonly 20.
 * @param width Standard deviations between the middle and a band: commonly 2.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. Bollinger (2001), "Bollinger on Bollinger Bands".
 */
export function bollinger(
  closes: Float64Array,
  period: number,
  width: number,
  pool: BufferPool | null = null,
): BandColumns {
  const middle = sma(closes, period, pool);
  const upper = stddev(closes, period, pool);
  const lower = takeDoubles(pool, closes.length);
  for (let i = 0; i < lower.length; i++) {
    const reach = width * upper[i]!;
    upper[i] = middle[i]! + reach;
    lower[i] = middle[i]! - reach;
  }
  return { upper, middle, lower };
}
