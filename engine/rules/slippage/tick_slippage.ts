import type { SlippageKind, SlippageModel } from "./slippage_model.ts";

interface TickSettings {
  readonly ticks: number;
  readonly tickSize: number;
}

/** Price steps, at most half of the price in total. */
class TickSlippage implements SlippageModel<TickSettings> {
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

  times(factor: number): TickSettings {
    return { ticks: this.#ticks * factor, tickSize: this.#tickSize };
  }

  withTick(tick: number): TickSettings {
    return { ticks: this.#ticks + tick / this.#tickSize, tickSize: this.#tickSize };
  }
}

export const TICK_SLIPPAGE: SlippageKind<TickSettings> = {
  settings: { ticks: { maximum: 10_000 }, tickSize: { isPositive: true, maximum: 1e12 } },
  form: "{ticks, tickSize}",
  words: "A number of price steps, at most half of the price.",
  create: (settings) => new TickSlippage(settings),
};
