import { and, asc, eq, gte } from "drizzle-orm";
import { ORDER_REASONS, ORDER_STATUSES, type OrderColumns } from "../engine/order_columns.ts";
import { ORDER_TYPES } from "../engine/strategy.ts";
import type { Db } from "./client.ts";
import { decodeColumns, encodeColumns } from "./codec/columns.ts";
import { backtestOrders, backtests } from "./schema.ts";
import { storableText } from "./storable.ts";

// A page is cut from one or two stretches, however many orders there are.
const STRETCH_ORDERS = 10_000;

const COLUMNS = [
  "time",
  "side",
  "type",
  "quantity",
  "limitPrice",
  "stopPrice",
  "status",
  "reason",
  "filledQuantity",
  "price",
  "fillTime",
] as const;

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
}

/** A stretch of a run's orders as it is stored. */
export type OrderStretch = Omit<typeof backtestOrders.$inferInsert, "backtestId">;

/** A run's orders in stretches of equal length, compressed. */
export function encodeOrders(orders: OrderColumns): OrderStretch[] {
  return Array.from({ length: Math.ceil(orders.count / STRETCH_ORDERS) }, (_, stretch) => {
    const begin = stretch * STRETCH_ORDERS;
    const end = Math.min(orders.count, begin + STRETCH_ORDERS);
    const columns = COLUMNS.map((name) => [name, Float64Array.from(orders[name].subarray(begin, end))] as const);
    const tags = orders.tag.slice(begin, end).map((tag) => tag === null ? null : storableText(tag));
    const data = encodeColumns(Object.fromEntries(columns));
    return { stretch, data, tags: tags.some((tag) => tag !== null) ? tags : null };
  });
}

/** Writes the orders of one or many runs. */
export async function insertOrders(
  tx: Db,
  runs: readonly { readonly backtestId: string; readonly stretches: readonly OrderStretch[] }[],
): Promise<void> {
  const rows = runs.flatMap(({ backtestId, stretches }) => stretches.map((stretch) => ({ backtestId, ...stretch })));
  if (rows.length > 0) await tx.insert(backtestOrders).values(rows);
}

/**
 * A page of one user's backtest's orders, in order of placement; empty where this user has no such backtest.
 *
 * @param page `after`: the number of the last order that is known already, 0 for none.
 */
export async function listOrders(db: Db, page: {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly after: number;
  readonly limit: number;
}): Promise<Order[]> {
  const first = Math.floor(page.after / STRETCH_ORDERS);
  const rows = await db.select({
    stretch: backtestOrders.stretch,
    data: backtestOrders.data,
    tags: backtestOrders.tags,
  })
    .from(backtestOrders)
    .innerJoin(backtests, and(eq(backtests.id, backtestOrders.backtestId), eq(backtests.ownerId, page.ownerId)))
    .where(and(eq(backtestOrders.backtestId, page.backtestId), gte(backtestOrders.stretch, first)))
    .orderBy(asc(backtestOrders.stretch)).limit(2);
  const orders: Order[] = [];
  for (const { stretch, data, tags } of rows) {
    const columns = decodeColumns(data);
    const begin = stretch * STRETCH_ORDERS;
    const count = columns.time?.length ?? 0;
    for (let i = Math.max(0, page.after - begin); i < count && orders.length < page.limit; i++) {
      orders.push(toOrder(columns, i, begin + i + 1, tags?.[i] ?? null));
    }
  }
  return orders;
}

function toOrder(
  columns: Readonly<Record<string, Float64Array>>,
  i: number,
  number: number,
  tag: string | null,
): Order {
  const value = (name: (typeof COLUMNS)[number]) => columns[name]?.[i] ?? NaN;
  const optional = (name: (typeof COLUMNS)[number]) => Number.isNaN(value(name)) ? null : value(name);
  const fillTime = optional("fillTime");
  return {
    number,
    time: new Date(value("time")),
    side: value("side") > 0 ? "buy" : "sell",
    type: ORDER_TYPES[value("type")] ?? "market",
    quantity: optional("quantity"),
    limitPrice: optional("limitPrice"),
    stopPrice: optional("stopPrice"),
    status: ORDER_STATUSES[value("status")] ?? "working",
    reason: ORDER_REASONS[value("reason")] || null,
    filledQuantity: optional("filledQuantity") ?? 0,
    price: optional("price"),
    fillTime: fillTime === null ? null : new Date(fillTime),
    tag,
  };
}
