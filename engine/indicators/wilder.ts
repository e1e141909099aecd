import type { BufferPool } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";
import { settlingCandles, smooth } from "./smoothing.ts";

/**
 * Wilder's smoothing: an exponential average with the weight 1 / period, starting at the simple mean of the first `period`
 * values. RSI and ATR use it.
 *
 * @param values One value a candle, oldest first; NaN only before the first value.
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns One average a candle, in the unit of `values`; NaN until `period` values exist.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. W. Wilder (1978), "New Concepts in Technical Trading Systems".
 */
export function wilder(values: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  checkPeriod("wilder", period);
  return smooth(values, period, 1 / period, pool);
}

/** Candles after which the start of an average of this period (an RSI or an ATR) no longer matters. */
export function wilderSettlingCandles(period: number): number {
  return settlingCandles(1 / period);
}
