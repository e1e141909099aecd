/** The prices of an order; NaN where its type has none. */
export interface OrderPrices {
  /** 1 buys, -1 sells. */
  readonly side: number;
  readonly limitPrice: number;
  readonly stopPrice: number;
}

/** The effects that a price can have on an order. */
export const LEAVES = 0;
export const FILLS = 1;
/** The order goes on as a limit order. */
export const MAKES_LIMIT = 2;
export type Effect = typeof LEAVES | typeof FILLS | typeof MAKES_LIMIT;

/** When a type of orders is filled. */
export interface OrderType {
  readonly name: string;
  /** The type's description in docs/execution.md. */
  readonly words: string;
  /** True if its orders name a limit: they fill at it or better, and do not slip. */
  readonly namesLimit: boolean;
  /** True if its orders name a stop. */
  readonly namesStop: boolean;
  /** The price at which something happens; NaN for one that waits for none. */
  levelOf(order: OrderPrices): number;
  /** 1 if prices rise to that level, -1 if they fall to it. */
  directionOf(side: number): number;
  /** The effect of a candle's open alone. @param penetrate `limitFill`. */
  atOpen(order: OrderPrices, open: number, penetrate: boolean): Effect;
  /** True if a candle gets to the level. */
  isReached(order: OrderPrices, high: number, low: number, penetrate: boolean): boolean;
  /** The effect of the order's level, once a candle has reached it. */
  atLevel(order: OrderPrices): Effect;
}
