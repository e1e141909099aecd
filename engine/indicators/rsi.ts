import { checkPeriod } from "./period.ts";
import { wilder } from "./wilder.ts";

/**
 * Wilder's relative strength index: 100 x G / (G + L), with G and L his averages of the rises and of the falls from close
 * to close. Where prices have not moved at all it is 50: neither strong nor weak.
 *
 * @param closes One price a candle, oldest first.
 * @param period Changes in the average, an integer of at least 1.
 * @returns 0 to 100, one a candle; NaN for the first `period`.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see J. W. Wilder (1978), "New Concepts in Technical Trading Systems".
 */
export function rsi(closes: Float64Array, period: number): Float64Array {
  checkPeriod("rsi", period);
  const count = closes.length;
  const rises = new Float64Array(count).fill(NaN);
  const falls = new Float64Array(count).fill(NaN);
  for (let i = 1; i < count; i++) {
    const change = closes[i]! - closes[i - 1]!;
    rises[i] = Math.max(change, 0);
    falls[i] = Math.max(-change, 0);
  }
  const strength = wilder(rises, period);
  const weakness = wilder(falls, period);
  for (let i = period; i < count; i++) {
    const both = strength[i]! + weakness[i]!;
    strength[i] = both === 0 ? 50 : 100 * strength[i]! / both;
  }
  return strength;
}
