import { opensBeyondStop, reachesStop } from "../triggers.ts";
import { type Effect, FILLS, LEAVES, MAKES_LIMIT, type OrderPrices, type OrderType } from "./order_type.ts";

/** A reached stop that lies beyond the limit cannot fill: from then on the order waits for its limit. */
export const STOP_LIMIT_ORDER = {
  name: "stop_limit",
  words: "as a limit order, once its stop is reached",
  namesLimit: true,
  namesStop: true,
  levelOf: ({ stopPrice }) => stopPrice,
  directionOf: (side) => side,
  atOpen: (order, open) => opensBeyondStop(order.side, order.stopPrice, open) ? fillAt(open, order) : LEAVES,
  isReached: ({ side, stopPrice }, high, low) => reachesStop(side, stopPrice, high, low),
  atLevel: (order) => fillAt(order.stopPrice, order),
} as const satisfies OrderType;

function fillAt(price: number, { side, limitPrice }: OrderPrices): Effect {
  return side * price > side * limitPrice ? MAKES_LIMIT : FILLS;
}
