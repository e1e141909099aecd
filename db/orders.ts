import type { Db } from "./client.ts";
import { type Order, toOrder } from "./codec/order_rows.ts";
import { type CutChunk, readPage } from "./row_pages.ts";

/**
 * A page of one user's backtest's orders, in order of placement; empty where this user has no such completed backtest.
 *
 * @param page `after`: the number of the last order that is known already, 0 for none.
 * @param cut Decodes the chunks; default: this thread.
 */
export async function listOrders(db: Db, page: {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly after: number;
  readonly limit: number;
}, cut?: CutChunk): Promise<Order[]> {
  return await readPage(db, { ...page, part: "orders" }, toOrder, cut);
}
