import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";

/**
 * Standard deviation of the last `period` values about their mean, with the divisor `period` (of a population, as Bollinger
 * bands use it).
 *
 * It subtracts no large sums from each other: each window is the tail of one block of `period` values and the head of the
 * next, both known as (mean, sum of squared deviations) and joined by Chan's formula. So equal prices deviate by exactly
 * zero, errors do not accumulate, and the cost does not depend on the period.
 *
 * @param values One value a candle, oldest first, finite.
 * @param period Candles in a window, an integer of at least 1.
 * @param pool Gives the column its memory; null: new memory.
 * @returns One deviation a candle, in the unit of `values`; NaN for the first `period - 1`.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see T. F. Chan, G. H. Golub, R. J. LeVeque (1983), "Algorithms for Computing the Sample Variance", The American
 *   Statistician 37(3); B. P. Welford (1962), Technometrics 4(3), for the running form.
 */
export function stddev(values: Float64Array, period: number, pool: BufferPool | null = null): Float64Array {
  checkPeriod("stddev", period);
  const count = values.length;
  const deviations = takeDoubles(pool, count).fill(NaN);
  if (period > count) return deviations;
  const tailMean = new Float64Array(period);
  const tailSquares = new Float64Array(period);
  for (let block = 0; block + period <= count; block += period) {
    spreadTails(values, block, tailMean, tailSquares);
    deviations[block + period - 1] = Math.sqrt(tailSquares[0]! / period);
    let headMean = 0;
    let headSquares = 0;
    const end = Math.min(block + 2 * period - 1, count);
    for (let i = block + period; i < end; i++) {
      const heads = i + 1 - block - period;
      const step = values[i]! - headMean;
      headMean += step / heads;
      headSquares += step * (values[i]! - headMean);
      const between = headMean - tailMean[heads]!;
      const squares = tailSquares[heads]! + headSquares + between * between * (heads * (period - heads) / period);
      deviations[i] = Math.sqrt(squares / period);
    }
  }
  return deviations;
}

/** Writes at `k` the mean and the sum of squared deviations of `values[block + k .. block + period)`. */
function spreadTails(values: Float64Array, block: number, means: Float64Array, squares: Float64Array): void {
  const period = means.length;
  let mean = 0;
  let sum = 0;
  for (let k = period - 1; k >= 0; k--) {
    const step = values[block + k]! - mean;
    mean += step / (period - k);
    sum += step * (values[block + k]! - mean);
    means[k] = mean;
    squares[k] = sum;
  }
}
