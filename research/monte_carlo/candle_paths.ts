import type { Candles } from "../../engine/candles.ts";
import type { Random } from "../numbers/random_numbers.ts";
import { drawStationaryBlocks } from "./resampling.ts";

const PRICES = ["open", "high", "low", "close"] as const;

/** The prices of a path left the range of numbers. */
export class PriceRangeError extends RangeError {
  override readonly name = "PriceRangeError";
}

/**
 * Makes candles that might have been: blocks of consecutive candles of the range, each candle with its open, high, low and
 * close relative to the close before it, and with its volume. Times and lookback stay as they are.
 */
export class CandlePaths {
  readonly #candles: Candles;
  readonly #firstIndex: number;
  readonly #meanLength: number;
  /** Each candle of the range against the close before it. */
  readonly #factors: Readonly<Record<(typeof PRICES)[number], Float64Array>>;
  readonly #indexes: Int32Array;
  readonly #path: Candles;

  /** @param firstIndex Candles before this one are lookback. @param meanLength Of the blocks, in candles. */
  constructor(candles: Candles, firstIndex: number, meanLength: number) {
    const { open, close, volume } = candles;
    const count = close.length - firstIndex;
    this.#candles = candles;
    this.#firstIndex = firstIndex;
    this.#meanLength = meanLength;
    this.#indexes = new Int32Array(count);
    const factorsOf = (prices: Float64Array) =>
      Float64Array.from({ length: count }, (_, i) => {
        const at = firstIndex + i;
        return prices[at]! / (at === 0 ? open[0]! : close[at - 1]!);
      });
    this.#factors = {
      open: factorsOf(open),
      high: factorsOf(candles.high),
      low: factorsOf(candles.low),
      close: factorsOf(close),
    };
    const copy = (name: (typeof PRICES)[number]) => candles[name].slice();
    this.#path = {
      time: candles.time,
      open: copy("open"),
      high: copy("high"),
      low: copy("low"),
      close: copy("close"),
      volume: volume.slice(),
    };
  }

  /** Draws the numbers of the next path, and makes no candles. */
  skip(random: Random): void {
    drawStationaryBlocks(this.#indexes.length, this.#meanLength, random, this.#indexes);
  }

  /** The candles of the next path. They are overwritten by the one after it. @throws {PriceRangeError} */
  next(random: Random): Candles {
    this.skip(random);
    const { open, high, low, close } = this.#factors;
    const path = this.#path;
    const first = this.#firstIndex;
    let before = first === 0 ? this.#candles.open[0]! : this.#candles.close[first - 1]!;
    for (let i = 0; i < this.#indexes.length; i++) {
      const from = this.#indexes[i]!;
      const to = first + i;
      // Rounding keeps the order of products, so the high stays the highest and the low the lowest.
      path.open[to] = before * open[from]!;
      path.high[to] = before * high[from]!;
      path.low[to] = before * low[from]!;
      before *= close[from]!;
      path.close[to] = before;
      path.volume[to] = this.#candles.volume[first + from]!;
    }
    if (!(before > 0 && Number.isFinite(before))) {
      throw new PriceRangeError("Cannot make a path of these candles: its prices leave the range of numbers");
    }
    return path;
  }
}
