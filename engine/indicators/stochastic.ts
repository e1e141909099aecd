import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { donchian } from "./donchian.ts";
import { sma } from "./sma.ts";

/** Columns of equal length, 0 to 100. `k` is NaN for the first `period + slowing - 2` candles, `d` for `signal - 1` more. */
interface StochasticColumns {
  readonly k: Float64Array;
  readonly d: Float64Array;
}

/**
 * Lane's stochastic oscillator: where the close lies between the lowest low (0) and the highest high (100) of the last
 * `period` candles. `k` is the mean of the last `slowing` such values, `d` the mean of the last `signal` values of `k`. A
 * market that does not move lies at 50.
 *
 * @param high Highest price a candle, oldest first.
 * @param low Lowest price a candle.
 * @param close Last price a candle.
 * @param periods Candles: commonly 14, 3 and 3. A `slowing` of 1 is the fast stochastic.
 * @param pool Gives the columns their memory; null: new memory.
 * @throws {RangeError} When a period is not a positive integer.
 * @see StockCharts ChartSchool, "Stochastic Oscillator".
 */
export function stochastic(
  high: Float64Array,
  low: Float64Array,
  close: Float64Array,
  periods: { readonly period: number; readonly slowing: number; readonly signal: number },
  pool: BufferPool | null = null,
): StochasticColumns {
  const { upper, lower } = donchian(high, low, periods.period, pool);
  const places = takeDoubles(pool, close.length);
  for (let i = 0; i < places.length; i++) {
    const range = upper[i]! - lower[i]!;
    places[i] = range === 0 ? 50 : 100 * (close[i]! - lower[i]!) / range;
  }
  const k = sma(places, periods.slowing, pool);
  return { k, d: sma(k, periods.signal, pool) };
}
