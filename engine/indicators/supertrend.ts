import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { atr } from "./atr.ts";

/** Columns of equal length; NaN for the first `period - 1` candles. */
interface SupertrendColumns {
  /** The price at which the trend would turn: below the market while it rises, above it while it falls. */
  readonly line: Float64Array;
  /** 1 in a rising trend, -1 in a falling one. */
  readonly direction: Float64Array;
}

/**
 * Supertrend: bands `multiple` average true ranges around the middle of each candle. The lower one only rises and the upper
 * one only falls, until a close is beyond it. The trend turns at a close beyond the band that it moves along, and begins
 * falling, as TradingView has it.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param close Last price a candle.
 * @param period Candles in the average true range, an integer of at least 1: commonly 10.
 * @param multiple Average true ranges from the middle to a band: commonly 3.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see Sierra Chart, Technical Studies Reference, "SuperTrend", for the recursion.
 */
export function supertrend(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  period: number,
  multiple: number,
  pool: BufferPool | null = null,
): SupertrendColumns {
  const ranges = atr(high, low, close, period, pool);
  const count = close.length;
  const line = takeDoubles(pool, count).fill(NaN, 0, period - 1);
  const direction = takeDoubles(pool, count).fill(NaN, 0, period - 1);
  let upper = Infinity;
  let lower = -Infinity;
  let trend = -1;
  for (let i = period - 1; i < count; i++) {
    const middle = (high[i]! + low[i]!) / 2;
    const reach = multiple * ranges[i]!;
    const before = i > 0 ? close[i - 1]! : NaN;
    if (middle + reach < upper || before > upper) upper = middle + reach;
    if (middle - reach > lower || before < lower) lower = middle - reach;
    if (trend < 0 ? close[i]! > upper : close[i]! < lower) trend = -trend;
    direction[i] = trend;
    line[i] = trend > 0 ? lower : upper;
  }
  return { line, direction };
}
