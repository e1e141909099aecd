import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";
import { sma } from "./sma.ts";
import { towards } from "./smoothing.ts";

/**
 * Wilder's relative strength index: 100 x G / (G + L), where G and L are its averages of the rises and of the falls from
 * close to close. It is 50 while prices do not move.
 *
 * @param closes One price a candle, oldest first.
 * @param period Changes in the average, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns 0 to 100, one a candle; NaN for the first `period`.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. W. Wilder (1978), "New Concepts in Technical Trading Systems".
 */
export function rsi(closes: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  checkPeriod("rsi", period);
  const count = closes.length;
  const indexes = takeDoubles(pool, count);
  indexes.fill(NaN, 0, period);
  if (period >= count) return indexes;
  const changes = Float64Array.from({ length: period }, (_, k) => closes[k + 1]! - closes[k]!);
  let rise = sma(changes.map((change) => Math.max(change, 0)), period)[period - 1]!;
  let fall = sma(changes.map((change) => Math.max(-change, 0)), period)[period - 1]!;
  indexes[period] = strengthOf(rise, fall);
  // Wilder's smoothing (wilder.ts) in place: columns of the averages take longer to write than to compute.
  const weight = 1 / period;
  for (let i = period + 1; i < count; i++) {
    const change = closes[i]! - closes[i - 1]!;
    // Exactly max(change, 0) and max(-change, 0). V8 would jump for these, and half of the jumps go astray.
    const size = Math.abs(change);
    rise = towards(rise, 0.5 * size + 0.5 * change, weight);
    fall = towards(fall, 0.5 * size - 0.5 * change, weight);
    indexes[i] = strengthOf(rise, fall);
  }
  return indexes;
}

function strengthOf(rise: number, fall: number): number {
  const both = rise + fall;
  return both === 0 ? 50 : 100 * rise / both;
}
