import type { BandColumns } from "./bollinger.ts";
import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { atr } from "./atr.ts";
import { ema } from "./ema.ts";

/**
 * Keltner channel: the exponential average of closes, and bands `width` average true ranges above and below it.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param close Last price a candle.
 * @param periods Candles of the average of closes (commonly 20) and of the average true range (commonly 10).
 * @param width Average true ranges between the middle and a band: commonly 2.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When a period is not a positive integer.
 * @see StockCharts ChartSchool, "Keltner Channels": the form that L. B. Raschke gave them.
 */
export function keltner(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  periods: { readonly average: number; readonly range: number },
  width: number,
  pool: BufferPool | null = null,
): BandColumns {
  const middle = ema(close, periods.average, pool);
  const upper = atr(high, low, close, periods.range, pool);
  const lower = takeDoubles(pool, close.length);
  for (let i = 0; i < lower.length; i++) {
    const reach = width * upper[i]!;
    upper[i] = middle[i]! + reach;
    lower[i] = middle[i]! - reach;
  }
  return { upper, middle, lower };
}
