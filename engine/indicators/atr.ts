import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";
import { wilder } from "./wilder.ts";

/**
 * Average true range: Wilder's average of the true range, the distance a candle covers with the gap from the close before
 * it. The range of the first candle is high - low.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param close Last price a candle.
 * @param period Candles in the average, an integer of at least 1.
 * @param pool Gives the columns their memory; null: new memory.
 * @returns One range a candle, in the unit of the prices; NaN for the first `period - 1`.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. W. Wilder (1978), "New Concepts in Technical Trading Systems".
 */
export function atr(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): Float64Array {
  checkPeriod("atr", period);
  return wilder(trueRanges(high, low, close, pool), period, pool);
}

/** The true range of each candle, in the unit of the prices; the first is high - low. */
export function trueRanges(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  pool: BufferPool | null,
): Float64Array {
  const ranges = takeDoubles(pool, close.length);
  for (let i = 0; i < ranges.length; i++) {
    const top = i > 0 && close[i - 1]! > high[i]! ? close[i - 1]! : high[i]!;
    const bottom = i > 0 && close[i - 1]! < low[i]! ? close[i - 1]! : low[i]!;
    ranges[i] = top - bottom;
  }
  return ranges;
}
