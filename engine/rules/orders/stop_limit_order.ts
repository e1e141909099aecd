import { FILLS, MAKES_LIMIT, type OrderType } from "./order_type.ts";

/** A reached stop that lies beyond the limit cannot fill: from then on the order waits for its limit. */
export const STOP_LIMIT_ORDER = {
  name: "stop_limit",
  words: "as a limit order, once its stop is reached",
  namesLimit: true,
  namesStop: true,
  effectAt: (price, { side, limitPrice }) => side * price > side * limitPrice ? MAKES_LIMIT : FILLS,
} as const satisfies OrderType;
