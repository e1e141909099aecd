import type { Db } from "./client.ts";
import { toTrade, type Trade } from "./codec/trade_rows.ts";
import { type CutChunk, readPage } from "./row_pages.ts";

/**
 * One user's trades of one backtest, oldest first; none before it is completed.
 *
 * @param page `after`: only trades numbered above this (0: from the first); `limit`: rows at most.
 * @param cut Decodes the chunks; default: this thread.
 */
export async function listTrades(db: Db, page: {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly after: number;
  readonly limit: number;
}, cut?: CutChunk): Promise<Trade[]> {
  return await readPage(db, { ...page, part: "trades" }, toTrade, cut);
}
