/**
 * How much worse than the candle's price a market or stop order is filled. Market and stop orders slip, and so do stop losses, trailing
 * stops and every exit at market; limit orders and targets do not.
 */
export interface SlippageModel<Settings = unknown> {
  /** The price after slippage, which is always against the order. @param side 1 for a buy, -1 for a sell. @param volume Of the candle. */
  priceOf(price: number, side: number, units: number, volume: number): number;
  /**
   * The price that sizes an order: that of the largest fill that the model allows in one candle. So the impact of its own
   * quantity cannot make an order dearer than it was sized for.
   */
  sizingPriceOf(price: number, side: number): number;
  /** Units that a candle's market and stop orders may fill together. @param volume Of the candle. */
  fillableOf(volume: number): number;
  /** The settings that slip a multiple, within their bounds. @param factor Above 0. */
  times(factor: number): Settings;
  /** The settings that fill a tick worse. @param price A typical one. */
  withTick(tick: number, price: number): Settings;
}

/** The bounds of a setting: a number from 0 on, or above it. */
export interface SettingBounds {
  readonly isPositive?: true;
  readonly maximum: number;
}

/** A model as requests and docs/execution.md name it. Its settings are its keys in a request. */
export interface SlippageKind<Settings> {
  readonly settings: { readonly [Name in keyof Settings]: SettingBounds };
  /** The model in the message about a wrong value. */
  readonly form: string;
  /** The model's description in docs/execution.md. */
  readonly words: string;
  create(settings: Settings): SlippageModel<Settings>;
}
