/** The prices of an order; NaN where its type has none. */
interface OrderPrices {
  /** 1 buys, -1 sells. */
  readonly side: number;
  readonly limitPrice: number;
  readonly stopPrice: number;
}

/** The effects of a price that has reached an order. */
export const FILLS = 0;
/** The order goes on as a limit order. */
export const MAKES_LIMIT = 1;

/**
 * When a type of orders is filled. An order waits for its stop if it names one, else for its limit: a buy for prices that rise to its
 * stop or fall to its limit, a sale the other way round (triggers.ts).
 */
export interface OrderType {
  readonly name: string;
  /** The type's description in docs/execution.md. */
  readonly words: string;
  /** True if its orders name a limit: they fill at it or better, and do not slip. */
  readonly namesLimit: boolean;
  /** True if its orders name a stop. */
  readonly namesStop: boolean;
  /** The effect of a price that has reached the order: an open that has passed it, or its own. */
  effectAt(price: number, order: OrderPrices): typeof FILLS | typeof MAKES_LIMIT;
}
