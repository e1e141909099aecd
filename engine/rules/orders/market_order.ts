import { FILLS, type OrderType } from "./order_type.ts";

/** Waits for no price: a market fills it by `fill`, before it looks at prices. */
export const MARKET_ORDER = {
  name: "market",
  words: "at the next open, or where `fill` says",
  namesLimit: false,
  namesStop: false,
  effectAt: () => FILLS,
} as const satisfies OrderType;
