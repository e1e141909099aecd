import type { SlippageModel } from "./slippage_model.ts";

export interface BpsSettings {
  readonly bps: number;
}

/** Hundredths of a percent of the price. */
export class BpsSlippage implements SlippageModel {
  readonly #bps: number;

  constructor({ bps }: BpsSettings) {
    this.#bps = bps;
  }

  priceOf(price: number, side: number): number {
    return price * (1 + side * this.#bps / 10_000);
  }

  sizingPriceOf(price: number, side: number): number {
    return this.priceOf(price, side);
  }

  fillableOf(): number {
    return Infinity;
  }
}
