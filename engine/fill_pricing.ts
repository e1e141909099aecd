import type { Fill } from "./fill.ts";
import type { Rules } from "./rules_of_run.ts";
import type { SlippageModel } from "./rules/slippage/slippage_model.ts";
import { spreadPrice } from "./rules/spread.ts";

/** Sets units, price and fee of fills, and counts the volume that they take from their candle. */
export class FillPricing {
  readonly #rules: Rules;
  readonly #volume: Float64Array;
  /** Null: nothing slips. */
  readonly #slippage: SlippageModel | null;
  /** The candle whose volume was taken last, and the units taken of it. */
  #index = -1;
  #taken = NaN;

  /** @param volume A candle's each. */
  constructor(rules: Rules, volume: Float64Array) {
    this.#rules = rules;
    this.#volume = volume;
    this.#slippage = rules.slippage;
  }

  /**
   * Sets the units of a fill: as many of the wanted ones as the candle's volume still allows; all of them for a limit price,
   * for a forced fill and without a volume share. The candle's other market and stop orders share what is left. A part is
   * rounded down to lots.
   */
  take(fill: Fill, wanted: number): void {
    // The column of volumes is not fetched from memory where volume does not count.
    fill.units = fill.slips && this.#slippage !== null ? this.#takeShare(fill, wanted, this.#slippage) : wanted;
  }

  /** The price that sizes an order: with slippage, unless it names its price, and with spread. */
  sizingPrice(raw: number, side: number, slips: boolean): number {
    const slipped = slips && this.#slippage !== null ? this.#slippage.sizingPriceOf(raw, side) : raw;
    return spreadPrice(this.#rules.execution, slipped, side, true);
  }

  /** Sets price and fee of a fill whose units are known: the market's price, then slippage, then spread. */
  price(fill: Fill, side: number, isEntry: boolean): void {
    const slippage = this.#slippage;
    const slipped = fill.slips && slippage !== null
      ? slippage.priceOf(fill.raw, side, fill.units, this.#volume[fill.index]!)
      : fill.raw;
    fill.price = spreadPrice(this.#rules.execution, slipped, side, isEntry);
    fill.fee = this.#rules.commission.feeOf(fill.units, fill.price);
  }

  #takeShare(fill: Fill, wanted: number, slippage: SlippageModel): number {
    const fillable = slippage.fillableOf(this.#volume[fill.index]!);
    if (fillable === Infinity || fill.isForced) return wanted;
    if (this.#index !== fill.index) {
      this.#index = fill.index;
      this.#taken = 0;
    }
    const left = fillable - this.#taken;
    const units = wanted <= left ? wanted : Math.max(0, this.#rules.lots.roundDown(left));
    this.#taken += units;
    return units;
  }
}
