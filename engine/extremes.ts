/** Candles in a block, and blocks in a block of blocks. */
const BLOCK = 64;

/**
 * Highest and lowest values over any stretch of a column, for a trade's best and worst price.
 *
 * Long stretches are answered from the extremes of blocks, which are computed when first needed: a strategy that never
 * trades pays nothing, and one that holds thousands of trades over a whole series does not read it thousands of times.
 */
export class Extremes {
  readonly #values: Float64Array;
  readonly #sign: 1 | -1;
  #blocks: Extremes | null = null;

  /** @param sign 1 looks for highs, -1 for lows. */
  constructor(values: Float64Array, sign: 1 | -1) {
    this.#values = values;
    this.#sign = sign;
  }

  /** The extreme of `values[from..to]`, both included; -Infinity (highs) or Infinity (lows) when `from > to`. */
  over(from: number, to: number): number {
    if (to - from < 4 * BLOCK) return this.#scan(from, to);
    const firstBlock = Math.ceil(from / BLOCK);
    const endBlock = Math.floor((to + 1) / BLOCK);
    const head = this.#scan(from, firstBlock * BLOCK - 1);
    const tail = this.#scan(endBlock * BLOCK, to);
    const middle = this.#ofBlocks().over(firstBlock, endBlock - 1);
    return this.#sign > 0 ? Math.max(head, middle, tail) : Math.min(head, middle, tail);
  }

  #scan(from: number, to: number): number {
    const values = this.#values;
    if (this.#sign > 0) {
      let high = -Infinity;
      for (let i = from; i <= to; i++) if (values[i]! > high) high = values[i]!;
      return high;
    }
    let low = Infinity;
    for (let i = from; i <= to; i++) if (values[i]! < low) low = values[i]!;
    return low;
  }

  #ofBlocks(): Extremes {
    if (this.#blocks === null) {
      const extremes = new Float64Array(Math.floor(this.#values.length / BLOCK));
      for (let k = 0; k < extremes.length; k++) extremes[k] = this.#scan(k * BLOCK, k * BLOCK + BLOCK - 1);
      this.#blocks = new Extremes(extremes, this.#sign);
    }
    return this.#blocks;
  }
}
