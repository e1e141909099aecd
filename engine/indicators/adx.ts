import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { trueRanges } from "./atr.ts";
import { checkPeriod } from "./period.ts";
import { wilder, wilderSettlingCandles } from "./wilder.ts";

/** Columns of equal length, 0 to 100. `plus` and `minus` are NaN for the first `period` candles, `adx` for `2 x period - 1`. */
interface AdxColumns {
  readonly adx: Float64Array;
  readonly plus: Float64Array;
  readonly minus: Float64Array;
}

/**
 * Wilder's directional movement. `plus` and `minus` (+DI, -DI) are the averages of the moves to new highs and new lows, in
 * percent of the average true range; `adx` averages their distance, in percent of their sum. Without movement all are 0.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param close Last price a candle.
 * @param period Candles in each average, an integer of at least 1: commonly 14.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. W. Wilder (1978), "New Concepts in Technical Trading Systems".
 */
export function adx(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): AdxColumns {
  checkPeriod("adx", period);
  const count = close.length;
  const ranges = trueRanges(high, low, close, pool);
  const rises = takeDoubles(pool, count);
  const falls = takeDoubles(pool, count);
  // The first candle has none to move from.
  ranges[0] = rises[0] = falls[0] = NaN;
  for (let i = 1; i < count; i++) {
    const up = high[i]! - high[i - 1]!;
    const down = low[i - 1]! - low[i]!;
    rises[i] = up > down && up > 0 ? up : 0;
    falls[i] = down > up && down > 0 ? down : 0;
  }
  const range = wilder(ranges, period, pool);
  const plus = wilder(rises, period, pool);
  const minus = wilder(falls, period, pool);
  const distances = takeDoubles(pool, count).fill(NaN, 0, period);
  for (let i = period; i < count; i++) {
    const scale = range[i]! > 0 ? 100 / range[i]! : 0;
    plus[i] = plus[i]! * scale;
    minus[i] = minus[i]! * scale;
    const sum = plus[i]! + minus[i]!;
    distances[i] = sum > 0 ? 100 * Math.abs(plus[i]! - minus[i]!) / sum : 0;
  }
  return { adx: wilder(distances, period, pool), plus, minus };
}

/** Candles after which the start of an ADX of this period no longer matters: it is an average of averages. */
export function adxSettlingCandles(period: number): number {
  return 2 * wilderSettlingCandles(period);
}
