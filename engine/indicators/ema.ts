import type { BufferPool } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";
import { settlingCandles, smooth } from "./smoothing.ts";

/**
 * Exponential moving average with the weight 2 / (period + 1), starting at the simple mean of the first `period` values.
 *
 * @param values One value a candle, oldest first; NaN only before the first value.
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns One average a candle, in the unit of `values`; NaN until `period` values exist.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see StockCharts ChartSchool, "Moving Averages: Simple and Exponential", for the start and the worked example.
 */
export function ema(values: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  checkPeriod("ema", period);
  return smooth(values, period, weightOf(period), pool);
}

/** Candles after which the start of an average of this period no longer matters. */
export function emaSettlingCandles(period: number): number {
  return settlingCandles(weightOf(period));
}

function weightOf(period: number): number {
  return 2 / (period + 1);
}
