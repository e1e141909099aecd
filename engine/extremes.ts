/** Candles in a block, and blocks in a block of blocks. */
const BLOCK = 64;

/**
 * Highest high and lowest low over any stretch of candles, for a trade's best and worst price.
 *
 * Once the long stretches read so far add up to the whole series, further ones use the extremes of blocks. So thousands of
 * long trades do not read the series thousands of times, and a few long trades do not pay for the blocks.
 */
export class Extremes {
  readonly #highs: Float64Array;
  readonly #lows: Float64Array;
  #blocks: Extremes | null = null;
  /** Candles read one by one in long stretches. */
  #candlesRead = 0;
  /** Highest high and lowest low of the last `over`; infinities for no candles. */
  high = NaN;
  low = NaN;

  constructor(highs: Float64Array, lows: Float64Array) {
    this.#highs = highs;
    this.#lows = lows;
  }

  /** Finds the extremes of candles `from` to `to`, both included; no candles when `from > to`. */
  over(from: number, to: number): void {
    const isLong = to - from >= 4 * BLOCK;
    if (isLong && this.#blocks === null) this.#candlesRead += to - from;
    if (!isLong || this.#candlesRead < this.#highs.length) {
      this.#forget();
      return this.#scan(from, to);
    }
    const firstBlock = Math.ceil(from / BLOCK);
    const endBlock = Math.floor((to + 1) / BLOCK);
    const blocks = (this.#blocks ??= this.#gatherBlocks());
    blocks.over(firstBlock, endBlock - 1);
    this.#forget();
    this.#scan(from, firstBlock * BLOCK - 1);
    this.#scan(endBlock * BLOCK, to);
    this.high = Math.max(this.high, blocks.high);
    this.low = Math.min(this.low, blocks.low);
  }

  #forget(): void {
    this.high = -Infinity;
    this.low = Infinity;
  }

  /** Finds both in one pass: the two comparisons do not wait for each other. */
  #scan(from: number, to: number): void {
    const highs = this.#highs;
    const lows = this.#lows;
    let high = this.high;
    let low = this.low;
    for (let i = from; i <= to; i++) {
      const up = highs[i]!;
      const down = lows[i]!;
      if (up > high) high = up;
      if (down < low) low = down;
    }
    this.high = high;
    this.low = low;
  }

  #gatherBlocks(): Extremes {
    const count = Math.floor(this.#highs.length / BLOCK);
    const highs = new Float64Array(count);
    const lows = new Float64Array(count);
    for (let k = 0; k < count; k++) {
      this.#forget();
      this.#scan(k * BLOCK, k * BLOCK + BLOCK - 1);
      highs[k] = this.high;
      lows[k] = this.low;
    }
    return new Extremes(highs, lows);
  }
}
