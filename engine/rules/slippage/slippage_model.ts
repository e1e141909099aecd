/**
 * How much worse than the candle's price a market or stop order is filled. Market and stop orders slip, and so do stop losses, trailing
 * stops and every exit at market; limit orders and targets do not.
 */
export interface SlippageModel {
  /**
   * The price after slippage, which is always against the order.
   *
   * @param side 1 for a buy, -1 for a sell. @param volume Of the candle.
   */
  priceOf(price: number, side: number, units: number, volume: number): number;
  /**
   * The price that sizes an order: that of the largest fill that the model allows in one candle. So the impact of its own
   * quantity cannot make an order dearer than it was sized for.
   */
  sizingPriceOf(price: number, side: number): number;
  /** Units that a candle's market and stop orders may fill together. @param volume Of the candle. */
  fillableOf(volume: number): number;
}
