import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { donchian } from "./donchian.ts";
import { checkPeriod } from "./period.ts";

/** Columns of equal length, in the unit of the prices; NaN until their candles exist. */
interface IchimokuColumns {
  readonly conversion: Float64Array;
  readonly base: Float64Array;
  /** The edges of the cloud as a chart shows them at a candle: computed `displacement - 1` candles before. */
  readonly leadingA: Float64Array;
  readonly leadingB: Float64Array;
}

/**
 * Ichimoku lines. The conversion line (tenkan-sen) and the base line (kijun-sen) are the middles between the highest high
 * and the lowest low of their periods. The cloud's edges are the mean of both and the middle of the longest period, shown
 * `displacement` candles ahead, the present candle counted.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param periods Candles: commonly 9, 26 and 52.
 * @param displacement Candles, an integer of at least 1: commonly 26.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When a period or the displacement is not a positive integer.
 * @see TradingView, "Ichimoku Cloud", for the displacement that counts the present candle.
 */
export function ichimoku(
  high: Float64Array,
  low: Float64Array,
  periods: { readonly conversion: number; readonly base: number; readonly span: number },
  displacement: number,
  pool: BufferPool | null = null,
): IchimokuColumns {
  checkPeriod("ichimoku", displacement);
  const conversion = middle(high, low, periods.conversion, pool);
  const base = middle(high, low, periods.base, pool);
  const span = middle(high, low, periods.span, pool);
  const count = high.length;
  const leadingA = takeDoubles(pool, count);
  const leadingB = takeDoubles(pool, count);
  const shift = displacement - 1;
  leadingA.fill(NaN, 0, shift);
  leadingB.fill(NaN, 0, shift);
  for (let i = shift; i < count; i++) {
    leadingA[i] = (conversion[i - shift]! + base[i - shift]!) / 2;
    leadingB[i] = span[i - shift]!;
  }
  return { conversion, base, leadingA, leadingB };
}

function middle(high: Float64Array, low: Float64Array, period: number, pool: BufferPool | null): Float64Array {
  const { upper, lower } = donchian(high, low, period, pool);
  for (let i = 0; i < upper.length; i++) upper[i] = (upper[i]! + lower[i]!) / 2;
  return upper;
}
