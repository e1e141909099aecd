import type { Candles } from "../candles.ts";
import type { CloseRows } from "./timeline.ts";

/** Rows in a window: with fifty markets it fits a processor's own caches. */
const ROWS = 64;
/** Between the windows of two markets, so that the rows of one instant do not all compete for the same lines of the cache. */
const STRIDE = ROWS + 8;

/** A market's candles and their rows. */
interface Priced {
  readonly index: number;
  readonly candles: Candles;
  readonly closes: CloseRows;
  readonly firstIndex: number;
  readonly last: number;
}

/**
 * The prices that value the held markets, for a few rows on. A row after another out of the columns of many markets waits for
 * memory at each; a market after another, many rows at a time, does not.
 */
export class PriceWindow {
  /** The newest close in a row of a market is at `placeOf(row) + index * stride`. */
  readonly close: Float64Array;
  /** The open of the candle that closes in the row; without one, the newest close before the row. */
  readonly open: Float64Array;
  /** The lowest and the highest price of that candle, likewise; empty where nobody looks at worst prices. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly stride = STRIDE;
  readonly #hasWorst: boolean;
  #first = -1;
  #end = -1;

  /** @param hasWorst True if lows and highs are read. */
  constructor(markets: number, hasWorst: boolean) {
    this.close = new Float64Array(markets * STRIDE);
    this.open = new Float64Array(markets * STRIDE);
    this.low = new Float64Array(hasWorst ? markets * STRIDE : 0);
    this.high = new Float64Array(hasWorst ? markets * STRIDE : 0);
    this.#hasWorst = hasWorst;
  }

  /** Has the prices of these markets in a row and the row before. Rows do not decrease by more than one. */
  reach(row: number, held: readonly Priced[]): void {
    if (row < this.#end) return;
    this.#first = row - 1;
    this.#end = this.#first + ROWS;
    for (const market of held) this.add(market);
  }

  /** The place of a row in the window, for every market. */
  placeOf(row: number): number {
    return row - this.#first;
  }

  /** Takes a market into the window that it was not held in before. */
  add(market: Priced): void {
    const { close, open, low, high } = market.candles;
    const newest = market.closes.newestIn(this.#first, market.last);
    const at = market.index * STRIDE;
    const isWhole = !market.closes.hasGaps && newest >= market.firstIndex && newest + ROWS <= market.last;
    if (isWhole) {
      copy(close, newest, this.close, at);
      copy(open, newest, this.open, at);
      if (this.#hasWorst) copy(low, newest, this.low, at);
      if (this.#hasWorst) copy(high, newest, this.high, at);
    } else this.#addGaps(market, newest);
  }

  #addGaps({ index, candles: { close, open, low, high }, closes, last }: Priced, newest: number): void {
    const { close: closeTo, open: openTo, low: lowTo, high: highTo } = this;
    let next = newest + 1;
    // A market's first candle, which has only begun, counts by its open.
    let price = next > 0 ? close[newest]! : open[0]!;
    for (let k = 0, at = index * STRIDE; k < ROWS; k++, at++) {
      const closesHere = next <= last && closes.rowOf(next) === this.#first + k;
      openTo[at] = closesHere ? open[next]! : price;
      if (this.#hasWorst) lowTo[at] = closesHere ? low[next]! : price;
      if (this.#hasWorst) highTo[at] = closesHere ? high[next]! : price;
      if (closesHere) price = close[next++]!;
      closeTo[at] = price;
    }
  }
}

function copy(from: Float64Array, first: number, to: Float64Array, at: number): void {
  for (let k = 0; k < ROWS; k++) to[at + k] = from[first + k]!;
}
