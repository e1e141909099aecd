import type { SlippageKind, SlippageModel } from "./slippage_model.ts";

interface BpsSettings {
  readonly bps: number;
}

const BPS_MAX = 5000;

/** Hundredths of a percent of the price. */
class BpsSlippage implements SlippageModel<BpsSettings> {
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

  times(factor: number): BpsSettings {
    return { bps: Math.min(BPS_MAX, this.#bps * factor) };
  }

  withTick(tick: number, price: number): BpsSettings {
    return { bps: this.#bps + tick / price * 1e4 };
  }
}

export const BPS_SLIPPAGE: SlippageKind<BpsSettings> = {
  settings: { bps: { maximum: BPS_MAX } },
  form: `{bps} up to ${BPS_MAX}`,
  words: "Hundredths of a percent of the price.",
  create: (settings) => new BpsSlippage(settings),
};
