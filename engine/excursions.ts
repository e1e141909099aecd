import type { Candles } from "./candles.ts";
import { Extremes } from "./extremes.ts";
import { AT_CLOSE, AT_OPEN, type Fill, FROM_ABOVE, FROM_BELOW } from "./fill.ts";
import type { OpenTrade } from "./open_trade.ts";

/** The largest loss and the largest gain that a trade saw while it was open. */
export class Excursions {
  readonly #candles: Candles;
  readonly #extremes: Extremes;
  /** The last trade's largest loss and gain: fractions of its entry price, both at least 0. */
  mae = NaN;
  mfe = NaN;
  /** The extremes between its entry and its exit, both prices but for the entry's. */
  high = NaN;
  low = NaN;

  constructor(candles: Candles) {
    this.#candles = candles;
    this.#extremes = new Extremes(candles.high, candles.low);
  }

  /**
   * Measures a trade from entry to exit. The entry and exit candles count only where they certainly lie between the two:
   * - all of a candle that was entered at its open or left at its close;
   * - after an entry inside a candle: its close, and the extreme in the direction of the entry;
   * - before an exit at the open or inside a candle: its open;
   * - the exit price itself.
   */
  measure(trade: OpenTrade, side: number, exit: Fill): void {
    const { open, high, low, close } = this.#candles;
    const { entryIndex, entryKind, price } = trade;
    const { index: exitIndex, kind: exitKind, price: exitPrice } = exit;
    const extremes = this.#extremes;
    const wholeEntry = entryKind === AT_OPEN && (exitIndex > entryIndex || exitKind === AT_CLOSE);
    const wholeExit = exitKind === AT_CLOSE && exitIndex > entryIndex;
    const from = wholeEntry ? entryIndex : entryIndex + 1;
    const until = wholeExit || (wholeEntry && exitIndex === entryIndex) ? exitIndex : exitIndex - 1;
    extremes.begin(exitPrice, exitPrice);
    if (exitIndex > entryIndex) extremes.add(open[exitIndex]!, open[exitIndex]!);
    const inside = entryKind === FROM_BELOW || entryKind === FROM_ABOVE;
    if (inside && (exitIndex > entryIndex || exitKind === AT_CLOSE)) {
      const closed = close[entryIndex]!;
      extremes.add(
        entryKind === FROM_BELOW ? high[entryIndex]! : closed,
        entryKind === FROM_ABOVE ? low[entryIndex]! : closed,
      );
    }
    extremes.addCandles(from, until);
    this.high = extremes.high;
    this.low = extremes.low;
    const best = side > 0 ? extremes.high - price : price - extremes.low;
    const worst = side > 0 ? price - extremes.low : extremes.high - price;
    this.mfe = Math.max(0, best) / price;
    this.mae = Math.max(0, worst) / price;
  }
}
