import { z } from "zod";
import { type Backtest, type BacktestsPage, listBacktests } from "../db/backtests.ts";
import { type BacktestSummary, listBacktestSummaries } from "../db/backtest_summaries.ts";
import type { Db } from "../db/client.ts";
import { listOrders, type Order } from "../db/orders.ts";
import { BACKTEST_STATUSES } from "../db/schema.ts";
import { listTrades, type Trade } from "../db/trades.ts";
import { toBacktest, toOrder, toSummary, toTrade } from "./backtest_records.ts";
import { strategyNameSchema } from "./backtest_submission.ts";
import { marketNameSchema } from "./market_name.ts";
import { mustGet } from "./owned_backtest.ts";
import { decodeCursor, type List } from "./paging.ts";

/** The filters of a list of backtests. */
export const backtestFilters = {
  status: z.enum(BACKTEST_STATUSES).optional(),
  strategy: strategyNameSchema.optional(),
  symbol: marketNameSchema.optional(),
};

type Filters = Omit<BacktestsPage, "before" | "limit">;

/** One user's backtests, newest first. A record has up to 100 KiB. */
export function backtestList(db: Db, filters: Filters): List<Backtest, ReturnType<typeof toBacktest>> {
  return {
    read: (before, limit) => listBacktests(db, { ...filters, before, limit }),
    key: (row) => row.id,
    show: toBacktest,
    pieceRows: 20,
  };
}

/** The same without parameters and results. */
export function summaryList(db: Db, filters: Filters): List<BacktestSummary, ReturnType<typeof toSummary>> {
  return {
    read: (before, limit) => listBacktestSummaries(db, { ...filters, before, limit }),
    key: (row) => row.id,
    show: toSummary,
    pieceRows: 500,
  };
}

interface RunKey {
  readonly backtestId: string;
  readonly ownerId: string;
}

/** A run's trades, oldest first. */
export function tradeList(db: Db, run: RunKey): List<Trade, ReturnType<typeof toTrade>> {
  return {
    read: (after, limit) => unlessDeleted(db, run, listTrades(db, { ...run, after: Number(after ?? 0), limit })),
    key: (row) => String(row.number),
    show: toTrade,
    pieceRows: 2_000,
  };
}

/** A run's orders, in order of placement. */
export function orderList(db: Db, run: RunKey): List<Order, ReturnType<typeof toOrder>> {
  return {
    read: (after, limit) => unlessDeleted(db, run, listOrders(db, { ...run, after: Number(after ?? 0), limit })),
    key: (row) => String(row.number),
    show: toOrder,
    pieceRows: 2_000,
  };
}

/** The rows that were read. @throws AppError BACKTEST_NOT_FOUND if there are none because the backtest was deleted meanwhile */
async function unlessDeleted<Row>(db: Db, run: RunKey, reading: Promise<Row[]>): Promise<Row[]> {
  const rows = await reading;
  // A deleted backtest has no rows left, so the part that was sent would pass for the whole.
  if (rows.length === 0) await mustGet(db, run.backtestId, run.ownerId);
  return rows;
}

/** The key in a cursor of backtests. */
export function afterId(cursor: string | undefined): string | undefined {
  return decodeCursor(cursor, z.uuid());
}

/** The key in a cursor of trades or orders. */
export function afterNumber(cursor: string | undefined): string | undefined {
  return decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
}
