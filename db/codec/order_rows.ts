import { ORDER_REASONS, ORDER_STATUSES } from "../../engine/order_columns.ts";
import { ORDER_TYPES } from "../../engine/strategy.ts";
import type { ORDER_COLUMNS } from "./result_parts.ts";
import { nameAt, requireColumn } from "./unreadable.ts";

/** An order as it is read back; numbers that do not apply are null. */
export interface Order {
  /** From 1, in order of placement. */
  readonly number: number;
  /** Open of the candle at whose close it was placed. */
  readonly time: Date;
  readonly side: "buy" | "sell";
  readonly type: (typeof ORDER_TYPES)[number];
  readonly quantity: number | null;
  readonly limitPrice: number | null;
  readonly stopPrice: number | null;
  readonly status: (typeof ORDER_STATUSES)[number];
  /** Why it was not filled, or not wholly; null where there is nothing to explain. */
  readonly reason: string | null;
  readonly filledQuantity: number;
  readonly price: number | null;
  readonly fillTime: Date | null;
  readonly tag: string | null;
  /** Row of the run's markets; null in a run over one. */
  readonly market: number | null;
}

/** An order from row `i` of stored columns. @throws {Error} Where they are damaged, or of a newer build. */
export function toOrder(
  columns: Readonly<Record<string, Float64Array>>,
  i: number,
  number: number,
  tag: string | null,
): Order {
  const value = (name: (typeof ORDER_COLUMNS)[number]) => requireColumn(columns, name)[i]!;
  const optional = (name: (typeof ORDER_COLUMNS)[number]) => Number.isNaN(value(name)) ? null : value(name);
  const fillTime = optional("fillTime");
  return {
    number,
    time: new Date(value("time")),
    side: value("side") > 0 ? "buy" : "sell",
    type: nameAt(ORDER_TYPES, value("type"), "order type"),
    quantity: optional("quantity"),
    limitPrice: optional("limitPrice"),
    stopPrice: optional("stopPrice"),
    status: nameAt(ORDER_STATUSES, value("status"), "order status"),
    reason: nameAt(ORDER_REASONS, value("reason"), "order reason") || null,
    filledQuantity: optional("filledQuantity") ?? 0,
    price: optional("price"),
    fillTime: fillTime === null ? null : new Date(fillTime),
    tag,
    market: columns.market?.[i] ?? null,
  };
}
