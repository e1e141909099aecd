import type { SlippageModel } from "./slippage_model.ts";

export interface VolumeShareSettings {
  readonly volumeShare: number;
  readonly impact: number;
}

/**
 * A share of the candle's volume: impact x (quantity / volume)^2 of the price, and no more units than the share. A forced exit (margin
 * call, end of data) is filled whole, with the impact of a full share at most.
 *
 * @see Zipline's VolumeShareSlippage, for the form of the impact.
 */
export class VolumeShareSlippage implements SlippageModel {
  readonly #volumeShare: number;
  readonly #impact: number;

  constructor({ volumeShare, impact }: VolumeShareSettings) {
    this.#volumeShare = volumeShare;
    this.#impact = impact;
  }

  priceOf(price: number, side: number, units: number, volume: number): number {
    const share = Math.min(units / volume, this.#volumeShare);
    return price * (1 + side * this.#impact * share ** 2);
  }

  sizingPriceOf(price: number, side: number): number {
    return this.priceOf(price, side, this.#volumeShare, 1);
  }

  fillableOf(volume: number): number {
    return this.#volumeShare * volume;
  }
}
