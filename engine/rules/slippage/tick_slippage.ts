import type { SlippageModel } from "./slippage_model.ts";

export interface TickSettings {
  readonly ticks: number;
  readonly tickSize: number;
}

/** Price steps, at most half of the price in total. */
export class TickSlippage implements SlippageModel {
  readonly #ticks: number;
  readonly #tickSize: number;

  constructor({ ticks, tickSize }: TickSettings) {
    this.#ticks = ticks;
    this.#tickSize = tickSize;
  }

  priceOf(price: number, side: number): number {
    return Math.max(price / 2, price + side * this.#ticks * this.#tickSize);
  }

  sizingPriceOf(price: number, side: number): number {
    return this.priceOf(price, side);
  }

  fillableOf(): number {
    return Infinity;
  }
}
