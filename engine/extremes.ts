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
  /** The extremes of all that was added since `begin`. */
  high = NaN;
  low = NaN;

  constructor(highs: Float64Array, lows: Float64Array) {
    this.#highs = highs;
    this.#lows = lows;
  }

  /** Starts anew. Prices that are near an extreme are best added first: each new extreme costs more than ten others. */
  begin(high: number, low: number): void {
    this.high = high;
    this.low = low;
  }

  add(high: number, low: number): void {
    this.high = Math.max(this.high, high);
    this.low = Math.min(this.low, low);
  }

  /** Adds candles `from` to `to`, both included; none when `from > to`. */
  addCandles(from: number, to: number): void {
    const isLong = to - from >= 4 * BLOCK;
    if (isLong && this.#blocks === null) this.#candlesRead += to - from;
    if (!isLong || this.#candlesRead < this.#highs.length) return this.#scan(from, to);
    const firstBlock = Math.ceil(from / BLOCK);
    const endBlock = Math.floor((to + 1) / BLOCK);
    this.#blocks ??= gatherBlocks(this.#highs, this.#lows);
    const blocks = this.#blocks;
    blocks.begin(this.high, this.low);
    blocks.addCandles(firstBlock, endBlock - 1);
    this.begin(blocks.high, blocks.low);
    this.#scan(from, firstBlock * BLOCK - 1);
    this.#scan(endBlock * BLOCK, to);
  }

  /** Finds both in one pass: the two comparisons do not wait for each other. */
  #scan(from: number, to: number): void {
    const highs = this.#highs;
    const lows = this.#lows;
    let { high, low } = this;
    for (let i = from; i <= to; i++) {
      high = Math.max(high, highs[i]!);
      low = Math.min(low, lows[i]!);
    }
    this.high = high;
    this.low = low;
  }
}

/** Blocks as candles: the extremes of each whole block. */
function gatherBlocks(highs: Float64Array, lows: Float64Array): Extremes {
  const candles = new Extremes(highs, lows);
  const count = Math.floor(highs.length / BLOCK);
  const highest = new Float64Array(count);
  const lowest = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    const block = k * BLOCK;
    candles.begin(highs[block]!, lows[block]!);
    candles.addCandles(block + 1, block + BLOCK - 1);
    highest[k] = candles.high;
    lowest[k] = candles.low;
  }
  return new Extremes(highest, lowest);
}
