import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";

/** Columns of equal length, in the unit of the prices; NaN until the range of the day is complete. */
export interface OpeningRangeColumns {
  readonly upper: Float64Array;
  readonly lower: Float64Array;
}

/**
 * Opening range: the highest high and the lowest low of the first `period` candles since the last anchor, such as the open
 * of the trading day.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param anchors One number a candle: where it is 0 a range begins.
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When `period` is not a positive integer.
 */
export function openingRange(
  high: Float64Array,
  low: Float64Array,
  anchors: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): OpeningRangeColumns {
  checkPeriod("openingRange", period);
  const upper = takeDoubles(pool, high.length);
  const lower = takeDoubles(pool, high.length);
  let top = NaN;
  let bottom = NaN;
  let taken = period;
  for (let i = 0; i < upper.length; i++) {
    if (anchors[i] === 0) {
      top = -Infinity;
      bottom = Infinity;
      taken = 0;
    }
    if (taken < period) {
      top = Math.max(top, high[i]!);
      bottom = Math.min(bottom, low[i]!);
      taken++;
    }
    upper[i] = taken === period ? top : NaN;
    lower[i] = taken === period ? bottom : NaN;
  }
  return { upper, lower };
}
