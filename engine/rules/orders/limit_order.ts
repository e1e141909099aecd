import { FILLS, type OrderType } from "./order_type.ts";

export const LIMIT_ORDER = {
  name: "limit",
  words: "at its limit, or at an open that is better",
  namesLimit: true,
  namesStop: false,
  effectAt: () => FILLS,
} as const satisfies OrderType;
