import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { DAY_MS } from "../time/durations.ts";
import type { TradingDayColumns } from "../metrics/input.ts";

/** Columns of equal length. */
export interface TradingDayCandles {
  /** The candle's number in its trading day, from 0. */
  readonly candle: Float64Array;
  /** How many candles the trading day before had; NaN where that day's first candle may be missing. */
  readonly length: Float64Array;
}

/**
 * Counts the candles of each trading day. It only looks back: the length of a day is known after it.
 *
 * @param time Opens of the candles, milliseconds since 1970, oldest first.
 * @param days The market's own days; null: days of UTC.
 * @param pool Gives the columns their memory; null: new memory.
 */
export function tradingDay(
  time: Float64Array,
  days: TradingDayColumns | null,
  pool: BufferPool | null = null,
): TradingDayCandles {
  const candle = takeDoubles(pool, time.length);
  const length = takeDoubles(pool, time.length);
  let day = 0;
  let first = 0;
  let before = NaN;
  for (let i = 0; i < time.length; i++) {
    if (i > 0 && (days === null ? dateOf(time[i]!) !== dateOf(time[i - 1]!) : i === days.ends[day])) {
      // The data may begin in the middle of its first day.
      before = day > 0 ? i - first : NaN;
      first = i;
      day++;
    }
    candle[i] = i - first;
    length[i] = before;
  }
  return { candle, length };
}

function dateOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}
