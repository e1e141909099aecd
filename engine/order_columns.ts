/** The fate of an order. An order's `status` is an index into this list. */
export const ORDER_STATUSES = ["working", "filled", "cancelled", "expired", "rejected"] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];
export const WORKING = 0;
export const FILLED = 1;
export const CANCELLED = 2;
export const EXPIRED = 3;
export const REJECTED = 4;

/** Why an order was not filled, or only in part. An order's `reason` is an index into this list. */
export const ORDER_REASONS = [
  "",
  "smaller than one lot",
  "not enough buying power",
  "short selling is not allowed",
  "nothing to close",
  "risk sizing needs a stop loss on the losing side of the price",
  "the order's prices or size are not usable",
  "too many working orders",
  "withdrawn by the strategy",
  "its candles are over",
  "replaced by a newer entry",
  "the run ended",
  "a limit order needs a limit price above 0",
  "a stop order needs a stop price above 0",
  "the instrument is not a member",
  "as many positions are open as positions_max allows",
] as const;
export type OrderReason = (typeof ORDER_REASONS)[number];
export const NO_REASON = 0;
export const TOO_SMALL = 1;
export const NO_BUYING_POWER = 2;
export const NO_SHORTS = 3;
export const NOTHING_TO_CLOSE = 4;
export const NO_RISK = 5;
export const UNUSABLE = 6;
export const TOO_MANY = 7;
export const WITHDRAWN = 8;
export const OUT_OF_TIME = 9;
export const SUPERSEDED = 10;
export const RUN_ENDED = 11;
export const NO_LIMIT_PRICE = 12;
export const NO_STOP_PRICE = 13;
export const NOT_A_MEMBER = 14;
export const NO_SLOT = 15;

/**
 * Every order that the strategy placed, as columns, one row an order, in order of placement.
 *
 * `time` is the open of the candle at whose close the order was placed, `fillTime` that of the candle of the last fill, both
 * in milliseconds since 1970; `side` is 1 or -1; `quantity` is in units, NaN for an order that was never sized; `price` is
 * the mean fill price, spread and slippage included. NaN means "none" in every column of numbers.
 */
export interface OrderColumns {
  readonly count: number;
  readonly time: Float64Array;
  readonly side: Int8Array;
  /** Index into ORDER_TYPES. */
  readonly type: Uint8Array;
  readonly quantity: Float64Array;
  readonly limitPrice: Float64Array;
  readonly stopPrice: Float64Array;
  /** Index into ORDER_STATUSES. */
  readonly status: Uint8Array;
  /** Index into ORDER_REASONS. */
  readonly reason: Uint8Array;
  readonly filledQuantity: Float64Array;
  readonly price: Float64Array;
  readonly fillTime: Float64Array;
  readonly tag: readonly (string | null)[];
}
