import { type BufferPool, takeDoubles } from "../buffer_pool.ts";
import { checkPeriod } from "./period.ts";

/** Columns of equal length, in the unit of the prices; NaN without volume. */
interface VwapColumns {
  /** Mean of the typical prices, weighted by volume. */
  readonly mean: Float64Array;
  /** Standard deviation of the typical prices about it, weighted by volume. */
  readonly deviation: Float64Array;
}

/** The columns of candles that a VWAP reads, oldest first. */
export interface PricesAndVolume {
  readonly high: Float64Array;
  readonly low: Float64Array;
  readonly close: Float64Array;
  readonly volume: Float64Array;
}

/**
 * Volume-weighted average price of the last `period` candles, and the standard deviation about it. A candle's typical price
 * is (high + low + close) / 3.
 *
 * Each window is the tail of one block of `period` candles and the head of the next, joined by Chan's formula (stddev.ts).
 *
 * @param period Candles, an integer of at least 1.
 * @param pool Gives the columns their memory; null: new memory.
 * @returns NaN for the first `period - 1` candles, too.
 * @throws {RangeError} When `period` is not a positive integer.
 * @see T. F. Chan, G. H. Golub, R. J. LeVeque (1983), The American Statistician 37(3); D. H. D. West (1979),
 *   Communications of the ACM 22(9), for the weights.
 */
export function vwap(candles: PricesAndVolume, period: number, pool: BufferPool | null = null): VwapColumns {
  checkPeriod("vwap", period);
  const count = candles.close.length;
  const columns = { mean: takeDoubles(pool, count), deviation: takeDoubles(pool, count) };
  columns.mean.fill(NaN, 0, period - 1);
  columns.deviation.fill(NaN, 0, period - 1);
  const none = new WeightedMean();
  const tails = Array.from({ length: 3 }, () => new Float64Array(period + 1));
  const [weights, means, squares] = [tails[0]!, tails[1]!, tails[2]!];
  for (let block = 0; block + period <= count; block += period) {
    const tail = new WeightedMean();
    for (let k = period - 1; k >= 0; k--) {
      tail.add(candles, block + k);
      weights[k] = tail.weight;
      means[k] = tail.mean;
      squares[k] = tail.squares;
    }
    none.joined(tail.weight, tail.mean, tail.squares, columns, block + period - 1);
    const head = new WeightedMean();
    const end = Math.min(block + 2 * period - 1, count);
    for (let i = block + period; i < end; i++) {
      head.add(candles, i);
      const k = i + 1 - period - block;
      head.joined(weights[k]!, means[k]!, squares[k]!, columns, i);
    }
  }
  return columns;
}

/**
 * Volume-weighted average price since the last anchor, such as the open of the trading day, and the deviation about it.
 *
 * @param anchors One number a candle: where it is 0 the average begins anew.
 * @param pool Gives the columns their memory; null: new memory.
 * @returns NaN before the first anchor, too.
 */
export function anchoredVwap(
  candles: PricesAndVolume,
  anchors: Float64Array,
  pool: BufferPool | null = null,
): VwapColumns {
  const count = candles.close.length;
  const columns = { mean: takeDoubles(pool, count), deviation: takeDoubles(pool, count) };
  const since = new WeightedMean();
  let hasBegun = false;
  for (let i = 0; i < count; i++) {
    if (anchors[i] === 0) since.clear();
    hasBegun ||= anchors[i] === 0;
    if (hasBegun) since.add(candles, i);
    since.joined(0, 0, 0, columns, i);
  }
  return columns;
}

/** A running mean of typical prices by volume, and the sum of weighted squared deviations about it. */
class WeightedMean {
  weight = 0;
  mean = 0;
  squares = 0;

  clear(): void {
    this.weight = this.mean = this.squares = 0;
  }

  add({ high, low, close, volume }: PricesAndVolume, i: number): void {
    const weight = volume[i]!;
    if (!(weight > 0)) return;
    const step = (high[i]! + low[i]! + close[i]!) / 3 - this.mean;
    this.weight += weight;
    this.mean += step * (weight / this.weight);
    // By the rest of the step, which keeps the sum of equal prices at exactly 0.
    this.squares += weight * step * (step * (1 - weight / this.weight));
  }

  /** Writes the mean and the deviation of this and another part; NaN where neither has volume. */
  joined(weight: number, mean: number, squares: number, to: VwapColumns, i: number): void {
    const total = this.weight + weight;
    const between = mean - this.mean;
    const share = weight / total;
    to.mean[i] = this.mean + between * share;
    to.deviation[i] = Math.sqrt((this.squares + squares + between * between * this.weight * share) / total);
  }
}
