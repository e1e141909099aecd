import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";

/**
 * Simple moving average: the mean of the last `period` values.
 *
 * Strategies compare these means, and a rounding error would invent a cross where prices stand still. So each window is
 * summed in pairs of doubles (about 106 bits) and rounded once. A mean of equal prices is that price, windows with the same
 * mean compare equal whatever their lengths, and no window inherits errors from candles that have left it. The cost does
 * not depend on the period: a window is the tail of one block of `period` values and the head of the next, whose running
 * sums are known.
 *
 * @param values One value a candle, oldest first; finite but for NaN before the first value.
 * @param period Candles in a window, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns One mean a candle, in the unit of `values`; NaN until `period` values exist.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see M. van Herk (1992), "A fast algorithm for local minimum and maximum filters", for the blocks;
 *   T. J. Dekker (1971), "A floating-point technique for extending the available precision", for the pairs.
 */
export function sma(values: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  checkPeriod("sma", period);
  const count = values.length;
  const means = takeDoubles(pool, count);
  // Only the undefined part: writing a long column twice costs as much as half of the sums.
  means.fill(NaN, 0, period - 1);
  if (period > count) return means;
  const tailHigh = new Float64Array(period + 1);
  const tailLow = new Float64Array(period + 1);
  for (let block = 0; block + period <= count; block += period) {
    sumTails(values, block, period, tailHigh, tailLow);
    means[block + period - 1] = dividePair(tailHigh[0]!, tailLow[0]!, period);
    let headHigh = 0;
    let headLow = 0;
    const end = Math.min(block + 2 * period - 1, count);
    for (let i = block + period; i < end; i++) {
      const value = values[i]!;
      const headSum = headHigh + value;
      const headPart = headSum - headHigh;
      headLow += (headHigh - (headSum - headPart)) + (value - headPart);
      headHigh = headSum;
      const tail = i + 1 - period - block;
      const high = tailHigh[tail]!;
      const sum = high + headHigh;
      const part = sum - high;
      const low = (high - (sum - part)) + (headHigh - part) + (tailLow[tail]! + headLow);
      means[i] = dividePair(sum, low, period);
    }
  }
  return means;
}

/** Writes the sum of `values[block + k .. block + period)` at `k`, as a pair of doubles. */
function sumTails(values: Float64Array, block: number, period: number, high: Float64Array, low: Float64Array): void {
  let sumHigh = 0;
  let sumLow = 0;
  for (let k = period - 1; k >= 0; k--) {
    const value = values[block + k]!;
    const sum = sumHigh + value;
    const part = sum - sumHigh;
    sumLow += (sumHigh - (sum - part)) + (value - part);
    sumHigh = sum;
    high[k] = sumHigh;
    low[k] = sumLow;
  }
}

/** `(high + low) / divisor`, rounded once: the remainder corrects the first quotient. */
function dividePair(high: number, low: number, divisor: number): number {
  const quotient = high / divisor;
  // Splitting the quotient in halves (Veltkamp) makes its product with a divisor below 2^26 exact.
  const scaled = quotient * 134217729;
  const upper = scaled - (scaled - quotient);
  const lower = quotient - upper;
  const rest = (high - upper * divisor) - lower * divisor;
  return quotient + (rest + low) / divisor;
}
