import { LIMIT_ORDER } from "./limit_order.ts";
import { MARKET_ORDER } from "./market_order.ts";
import type { OrderType } from "./order_type.ts";
import { STOP_LIMIT_ORDER } from "./stop_limit_order.ts";
import { STOP_ORDER } from "./stop_order.ts";

/** Every type of orders. A new one comes last: stored orders, modules and bindings know a type by its place. */
const TYPES = [MARKET_ORDER, LIMIT_ORDER, STOP_ORDER, STOP_LIMIT_ORDER] as const;

/** Each type's rules: an order's `type` is an index into this list. */
export const TYPE_RULES: readonly OrderType[] = TYPES;
/** The names of all types. */
export const ORDER_TYPES = TYPES.map(({ name }) => name);
export const MARKET = 0;
export const LIMIT = 1;
export const STOP = 2;
export const STOP_LIMIT = 3;
