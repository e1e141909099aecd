import type { Execution } from "./execution.ts";
import type { Fill } from "./fill.ts";
import { feeOf } from "./rules/fees.ts";
import type { Lots } from "./rules/lots.ts";
import { fillableUnits, slippedPrice } from "./rules/slippage.ts";
import { spreadPrice } from "./rules/spread.ts";

/** Sets units, price and fee of fills, and counts the volume that they take from their candle. */
export class FillPricing {
  readonly #execution: Execution;
  readonly #volume: Float64Array;
  readonly #lots: Lots;
  readonly #hasSlippage: boolean;
  /** The candle whose volume was taken last, and the units taken of it. */
  #index = -1;
  #taken = NaN;

  /** @param volume A candle's each. */
  constructor(execution: Execution, volume: Float64Array, lots: Lots) {
    this.#execution = execution;
    this.#volume = volume;
    this.#lots = lots;
    this.#hasSlippage = execution.slippage !== 0;
  }

  /**
   * Sets the units of a fill: as many of the wanted ones as the candle's volume still allows; all of them for a limit price,
   * for a forced fill and without a volume share. The candle's other market and stop orders share what is left. A part is
   * rounded down to lots.
   */
  take(fill: Fill, wanted: number): void {
    // The column of volumes is not fetched from memory where volume does not count.
    fill.units = fill.slips && this.#hasSlippage ? this.#takeShare(fill, wanted) : wanted;
  }

  /** Sets price and fee of a fill whose units are known: the market's price, then slippage, then spread. */
  price(fill: Fill, side: number, isEntry: boolean): void {
    const { slippage, commission } = this.#execution;
    const slipped = fill.slips && this.#hasSlippage
      ? slippedPrice(slippage, fill.raw, side, fill.units, this.#volume[fill.index]!)
      : fill.raw;
    fill.price = spreadPrice(this.#execution, slipped, side, isEntry);
    fill.fee = feeOf(commission, fill.units, fill.price);
  }

  #takeShare(fill: Fill, wanted: number): number {
    const fillable = fillableUnits(this.#execution.slippage, this.#volume[fill.index]!);
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
