/** Candles in a block, and blocks in a block of blocks. */
const BLOCK = 64;

/**
 * Highest high and lowest low over any stretch of candles, for a trade's best and worst price.
 *
 * Long stretches are answered from the extremes of blocks, which are computed when first needed: a strategy that never
 * trades pays nothing, and one that holds thousands of trades over a whole series does not read it thousands of times.
 */
export class Extremes {
  readonly #found = new Float64Array(2);
  readonly #highs: Float64Array;
  readonly #lows: Float64Array;
  #blocks: Extremes | null = null;

  constructor(highs: Float64Array, lows: Float64Array) {
    this.#highs = highs;
    this.#lows = lows;
  }

  /** The highest high of the candles that `over` was given last; -Infinity of none. */
  get high(): number {
    return this.#found[0]!;
  }

  /** The lowest low of them; Infinity of none. */
  get low(): number {
    return this.#found[1]!;
  }

  /** Finds the extremes of candles `from` to `to`, both included; none when `from > to`. */
  over(from: number, to: number): void {
    if (to - from < 4 * BLOCK) {
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
    this.#found[0] = Math.max(this.high, blocks.high);
    this.#found[1] = Math.min(this.low, blocks.low);
  }

  #forget(): void {
    this.#found[0] = -Infinity;
    this.#found[1] = Infinity;
  }

  /** Both in one pass: the two comparisons do not wait for each other. */
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
    this.#found[0] = high;
    this.#found[1] = low;
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
