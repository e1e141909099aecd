import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";

/** Columns of equal length, in the unit of the prices; NaN for the first `period - 1` candles. */
export interface DonchianColumns {
  readonly upper: Float64Array;
  readonly lower: Float64Array;
}

/**
 * Donchian channel: the highest high and the lowest low of the last `period` candles, the present one included.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see M. van Herk (1992), "A fast algorithm for local minimum and maximum filters", for a cost free of the period.
 */
export function donchian(
  high: Float64Array,
  low: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): DonchianColumns {
  checkPeriod("donchian", period);
  const upper = takeDoubles(pool, high.length).fill(NaN);
  const lower = takeDoubles(pool, low.length).fill(NaN);
  const tailHigh = new Float64Array(period);
  const tailLow = new Float64Array(period);
  for (let block = 0; block + period <= high.length; block += period) {
    let top = -Infinity;
    let bottom = Infinity;
    for (let k = period - 1; k >= 0; k--) {
      if (high[block + k]! > top) top = high[block + k]!;
      if (low[block + k]! < bottom) bottom = low[block + k]!;
      tailHigh[k] = top;
      tailLow[k] = bottom;
    }
    upper[block + period - 1] = top;
    lower[block + period - 1] = bottom;
    top = -Infinity;
    bottom = Infinity;
    const end = Math.min(block + 2 * period - 1, high.length);
    for (let i = block + period; i < end; i++) {
      const tail = i + 1 - period - block;
      if (high[i]! > top) top = high[i]!;
      if (low[i]! < bottom) bottom = low[i]!;
      upper[i] = top > tailHigh[tail]! ? top : tailHigh[tail]!;
      lower[i] = bottom < tailLow[tail]! ? bottom : tailLow[tail]!;
    }
  }
  return { upper, lower };
}
