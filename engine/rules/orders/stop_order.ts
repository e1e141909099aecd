import { opensBeyondStop, reachesStop } from "../triggers.ts";
import { FILLS, LEAVES, type OrderType } from "./order_type.ts";

export const STOP_ORDER = {
  name: "stop",
  words: "at its stop, or at an open beyond it, which is worse",
  namesLimit: false,
  namesStop: true,
  levelOf: ({ stopPrice }) => stopPrice,
  directionOf: (side) => side,
  atOpen: ({ side, stopPrice }, open) => opensBeyondStop(side, stopPrice, open) ? FILLS : LEAVES,
  isReached: ({ side, stopPrice }, high, low) => reachesStop(side, stopPrice, high, low),
  atLevel: () => FILLS,
} as const satisfies OrderType;
