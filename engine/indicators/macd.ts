import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { ema } from "./ema.ts";

/** Columns of equal length, in the unit of the prices. */
interface MacdColumns {
  readonly macd: Float64Array;
  readonly signal: Float64Array;
  readonly histogram: Float64Array;
}

/**
 * Moving average convergence and divergence: ema(fast) - ema(slow), its own ema as the signal, and their difference.
 *
 * @param closes One price a candle, oldest first.
 * @param periods Candles: commonly 12, 26 and 9.
 * @param pool Gives the columns their memory; null: new memory.
 * @returns Three columns; `macd` is NaN for the first max(fast, slow) - 1 candles, the others for `signal` - 1 more.
 * @throws {RangeError} When a period is not a positive integer.
 * @see G. Appel (2005), "Technical Analysis: Power Tools for Active Investors".
 */
export function macd(
  closes: Float64Array,
  periods: { readonly fast: number; readonly slow: number; readonly signal: number },
  pool: BufferPool | null = null,
): MacdColumns {
  const line = ema(closes, periods.fast, pool);
  const slow = ema(closes, periods.slow, pool);
  for (let i = 0; i < line.length; i++) line[i] = line[i]! - slow[i]!;
  const signal = ema(line, periods.signal, pool);
  const histogram = takeDoubles(pool, line.length);
  for (let i = 0; i < line.length; i++) histogram[i] = line[i]! - signal[i]!;
  return { macd: line, signal, histogram };
}
