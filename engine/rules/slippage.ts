import type { Slippage } from "../execution.ts";

/**
 * The price after slippage, which is always against the order. Bps are hundredths of a percent of the price; ticks are
 * price steps, at most half of the price in total; a volume share costs impact x (quantity / volume of the candle)^2 of the
 * price. Market and stop orders slip, and so do stop losses, trailing stops and every exit at market; limit orders do not.
 * A forced exit (margin call, end of data) is filled whole, with the impact of a full share at most.
 *
 * @param side 1 for a buy, -1 for a sell.
 * @see Zipline's VolumeShareSlippage, for the form of the impact.
 */
export function slippedPrice(slippage: Slippage, price: number, side: number, units: number, volume: number): number {
  if (slippage === 0) return price;
  if ("bps" in slippage) return price * (1 + side * slippage.bps / 10_000);
  if ("ticks" in slippage) return Math.max(price / 2, price + side * slippage.ticks * slippage.tickSize);
  const share = Math.min(units / volume, slippage.volumeShare);
  return price * (1 + side * slippage.impact * share ** 2);
}

/**
 * The price that sizes an order: that of the largest fill that the model allows in one candle. So the impact of its own
 * quantity cannot make an order dearer than it was sized for.
 */
export function slippedSizingPrice(slippage: Slippage, price: number, side: number): number {
  if (slippage !== 0 && "volumeShare" in slippage) return slippedPrice(slippage, price, side, slippage.volumeShare, 1);
  return slippedPrice(slippage, price, side, 0, 1);
}

/** Units that a candle's market and stop orders may fill together; Infinity unless slippage is a volume share. */
export function fillableUnits(slippage: Slippage, volume: number): number {
  return slippage !== 0 && "volumeShare" in slippage ? slippage.volumeShare * volume : Infinity;
}
