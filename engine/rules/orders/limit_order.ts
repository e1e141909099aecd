import { opensBeyondLimit, reachesLimit } from "../triggers.ts";
import { FILLS, LEAVES, type OrderType } from "./order_type.ts";

export const LIMIT_ORDER = {
  name: "limit",
  words: "at its limit, or at an open that is better",
  namesLimit: true,
  namesStop: false,
  levelOf: ({ limitPrice }) => limitPrice,
  directionOf: (side) => -side,
  atOpen: ({ side, limitPrice }, open, penetrate) =>
    opensBeyondLimit(side, limitPrice, open, penetrate) ? FILLS : LEAVES,
  isReached: ({ side, limitPrice }, high, low, penetrate) => reachesLimit(side, limitPrice, high, low, penetrate),
  atLevel: () => FILLS,
} as const satisfies OrderType;
