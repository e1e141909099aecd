import type { SlippageKind, SlippageModel } from "./slippage_model.ts";

interface VolumeShareSettings {
  readonly volumeShare: number;
  readonly impact: number;
}

// A price may not be worsened to nothing, or a sale would pay.
const IMPACT_MAX = 0.5;

/**
 * A share of the candle's volume: impact x (quantity / volume)^2 of the price, and no more units than the share. A forced exit (margin
 * call, end of data) is filled whole, with the impact of a full share at most.
 *
 * @see Zipline's VolumeShareSlippage, for the form of the impact.
 */
class VolumeShareSlippage implements SlippageModel<VolumeShareSettings> {
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

  times(factor: number): VolumeShareSettings {
    return { volumeShare: this.#volumeShare, impact: Math.min(IMPACT_MAX, this.#impact * factor) };
  }

  withTick(tick: number, price: number): VolumeShareSettings {
    return { volumeShare: this.#volumeShare, impact: this.#impact + tick / price };
  }
}

export const VOLUME_SHARE_SLIPPAGE: SlippageKind<VolumeShareSettings> = {
  settings: { volumeShare: { isPositive: true, maximum: 1 }, impact: { maximum: IMPACT_MAX } },
  form: `{volumeShare, impact} up to 1 and ${IMPACT_MAX}`,
  words:
    "All market and stop orders of a candle together fill at most this share of its volume; the rest waits for the next open. " +
    "A fill costs impact x (quantity / volume)^2 of the price. A forced fill (margin call, end of data) is whole, and its impact is " +
    "that of a full share at most.",
  create: (settings) => new VolumeShareSlippage(settings),
};
