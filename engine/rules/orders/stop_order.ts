import { FILLS, type OrderType } from "./order_type.ts";

export const STOP_ORDER = {
  name: "stop",
  words: "at its stop, or at an open beyond it, which is worse",
  namesLimit: false,
  namesStop: true,
  effectAt: () => FILLS,
} as const satisfies OrderType;
