import type { Execution } from "./execution.ts";
import type { Fill } from "./fill.ts";
import { feeOf } from "./rules/fees.ts";
import type { Lots } from "./rules/lots.ts";
import type { SlippageModel } from "./rules/slippage/slippage_model.ts";
import { slippageModelOf } from "./rules/slippage/slippage_models.ts";
import { spreadPrice } from "./rules/spread.ts";

/** Sets units, price and fee of fills, and counts the volume that they take from their candle. */
export class FillPricing {
  readonly #execution: Execution;
  readonly #volume: Float64Array;
  readonly #lots: Lots;
  /** Null: nothing slips. */
  readonly #slippage: SlippageModel | null;
  /** The candle whose volume was taken last, and the units taken of it. */
  #index = -1;
  #taken = NaN;

  /** @param volume A candle's each. */
  constructor(execution: Execution, volume: Float64Array, lots: Lots) {
    this.#execution = execution;
    this.#volume = volume;
    this.#lots = lots;
    this.#slippage = slippageModelOf(execution.slippage);
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
    return spreadPrice(this.#execution, slipped, side, true);
  }

  /** Sets price and fee of a fill whose units are known: the market's price, then slippage, then spread. */
  price(fill: Fill, side: number, isEntry: boolean): void {
    const slippage = this.#slippage;
    const slipped = fill.slips && slippage !== null
      ? slippage.priceOf(fill.raw, side, fill.units, this.#volume[fill.index]!)
      : fill.raw;
    fill.price = spreadPrice(this.#execution, slipped, side, isEntry);
    fill.fee = feeOf(this.#execution.commission, fill.units, fill.price);
  }

  #takeShare(fill: Fill, wanted: number, slippage: SlippageModel): number {
    const fillable = slippage.fillableOf(this.#volume[fill.index]!);
    if (fillable === Infinity || fill.isForced) return wanted;
    if (this.#index !== fill.index) {
      this.#index = fill.index;
      this.#taken = 0;
    }
    const left = fillable - this.#taken;
    const units = wanted <= left ? wanted : Math.max(0, this.#lots.roundDown(left));
    this.#taken += units;
    return units;
  }
}
