import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { YEAR_MS } from "../time/durations.ts";
import { sma } from "./sma.ts";

/**
 * Realised volatility: the root of the sum of the last `period` squared returns from close to close, scaled from the time
 * between the first and the last of these candles to a year of 365 days. It needs no length of a candle, so nights,
 * weekends and holidays without trade count as the time that they are.
 *
 * @param time Opens of the candles, milliseconds since 1970, oldest first.
 * @param close Last price a candle.
 * @param period Returns, an integer of at least 1.
 * @param pool Gives the columns their memory; null: new memory.
 * @returns One volatility a candle, a fraction a year (0.2 is 20%); NaN for the first `period`.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see T. G. Andersen, T. Bollerslev, F. X. Diebold, P. Labys (2003), "Modeling and Forecasting Realized Volatility",
 *   Econometrica 71(2). Simple returns stand for logarithmic ones, whose digits may differ between machines.
 */
export function realisedVolatility(
  time: Float64Array,
  close: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): Float64Array {
  const squares = takeDoubles(pool, close.length);
  squares[0] = NaN;
  for (let i = 1; i < squares.length; i++) squares[i] = (close[i]! / close[i - 1]! - 1) ** 2;
  const volatilities = sma(squares, period, pool);
  for (let i = period; i < volatilities.length; i++) {
    const years = (time[i]! - time[i - period]!) / YEAR_MS;
    volatilities[i] = Math.sqrt(volatilities[i]! * period / years);
  }
  return volatilities;
}
