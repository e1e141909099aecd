/** The trades and orders of a backtest as lists. */
import { z } from "zod";
import type { Db } from "../../db/client.ts";
import type { Order } from "../../db/codec/order_rows.ts";
import type { Trade } from "../../db/codec/trade_rows.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import { type CutChunk, findRow, listOrders, listTrades } from "../../db/row_pages.ts";
import type { Column, Format } from "../../workers/rows/table_format.ts";
import { type RunMarket, showOrder, showTrade } from "../../workers/rows/write_result_rows.ts";
import { readInTurns, turnsOf } from "../common/large_reads.ts";
import { decodeCursor, type List, type ListAnswer, readList } from "../common/paging.ts";
import type { Context, UserContext } from "../common/trpc.ts";
import { mustGet } from "./owned_backtest.ts";

/** Rows of a piece of a list: it takes some milliseconds, in which nobody else is answered. */
const PIECE_ROWS = 200;

type Reading = Pick<Context, "db" | "rowsWorker">;

interface RunKey {
  readonly backtestId: string;
  readonly ownerId: string;
  /** The run's; none in a run over one. */
  readonly markets: readonly RunMarket[];
  /** The only one whose rows are wanted. */
  readonly market?: number;
}

/** A run's trades, oldest first. */
export function tradeList(ctx: Reading, run: RunKey): List<Trade, ReturnType<typeof showTrade>> {
  return {
    read: (after, limit) => readRows(ctx, run, { after, limit }, listTrades),
    key: (row) => String(row.number),
    show: (row) =>
      isWanted(row, run)
        ? readRecord(`trades of the backtest ${run.backtestId}`, () => showTrade(row, run.markets))
        : undefined,
    pieceRows: PIECE_ROWS,
    isSparse: run.market !== undefined,
  };
}

/** A run's orders, in order of placement. */
export function orderList(ctx: Reading, run: RunKey): List<Order, ReturnType<typeof showOrder>> {
  return {
    read: (after, limit) => readRows(ctx, run, { after, limit }, listOrders),
    key: (row) => String(row.number),
    show: (row) =>
      isWanted(row, run)
        ? readRecord(`orders of the backtest ${run.backtestId}`, () => showOrder(row, run.markets))
        : undefined,
    pieceRows: PIECE_ROWS,
    isSparse: run.market !== undefined,
  };
}

function isWanted(row: Pick<Trade | Order, "market">, { market }: RunKey): boolean {
  return market === undefined || row.market === market;
}

/** How many orders of a run were placed before a time; their list is in the order of placement. @param timeMs Since 1970. */
export async function countOrdersBefore({ read }: List<Order, unknown>, timeMs: number): Promise<number> {
  const isBefore = async (index: number) => {
    const [order] = await read(String(index), 1);
    return order !== undefined && order.time.getTime() < timeMs;
  };
  let [low, high] = [0, 1];
  while (await isBefore(high - 1)) [low, high] = [high, high * 2];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (await isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads rows of a run: the thread of lists decodes them, since long lists would hold up everybody's requests here. */
async function readRows<Row>(
  { db, rowsWorker }: Reading,
  run: RunKey,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
  list: (db: Db, page: RunKey & { readonly after: number; readonly limit: number }, cut: CutChunk) => Promise<Row[]>,
): Promise<Row[]> {
  const rows = await list(
    db,
    { ...run, after: Number(after ?? 0), limit },
    (source, range) => rowsWorker.cut(source, range),
  );
  // A deleted backtest has no rows left, so the part that was sent would pass for the whole.
  if (rows.length < limit) await mustGet(db, run.backtestId, run.ownerId);
  return rows;
}

/**
 * All trades or orders of a run behind a number, written by the thread of lists, a piece in a turn of the user's.
 *
 * @returns The rows alone: JSON without brackets, CSV without its head, batches of Arrow.
 */
async function* writeRunRows(
  ctx: UserContext,
  { markets, ...key }: RunKey,
  { part, columns, after }: {
    readonly part: "trades" | "orders";
    readonly columns: readonly Column[];
    readonly after: string | undefined;
  },
  format: Format,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const { db, rowsWorker } = ctx;
  const run = turnsOf(ctx);
  let index = Number(after ?? 0);
  for (;;) {
    const { source, from } = findRow(db, { ...key, part }, index);
    const form = { part, format, columns, markets, number: index + 1 };
    const written = await run(() => rowsWorker.writeRows(source, { from, until: from + PIECE_ROWS }, form));
    if (written === undefined || written.rows === 0) break;
    yield written.bytes;
    index += written.rows;
  }
  // A deleted backtest has no rows left, so the part that was sent would pass for the whole.
  await mustGet(db, key.backtestId, key.ownerId);
}

/** The trades or orders of a run as an answer: a page where there is a limit, else all of them, which the thread of lists writes. */
export function listRows<Row, Item extends object>(
  ctx: UserContext,
  run: RunKey,
  { list, ...rows }: {
    readonly part: "trades" | "orders";
    readonly list: List<Row, Item>;
    readonly columns: readonly Column[];
  },
  { format, limit, cursor }: {
    readonly format: Format | undefined;
    readonly limit: number | undefined;
    readonly cursor: string | undefined;
  },
): ListAnswer {
  const after = afterNumber(cursor);
  const pages = readList(readInTurns(ctx, list), { limit, after }, ctx.answer);
  const table = { format, columns: rows.columns, isPage: limit !== undefined };
  if (limit !== undefined || run.market !== undefined) return { name: rows.part, pages, table };
  return {
    name: rows.part,
    pages,
    table: { ...table, write: (chosen) => writeRunRows(ctx, run, { ...rows, after }, chosen) },
  };
}

/** The key in a cursor of trades or orders. */
export function afterNumber(cursor: string | undefined): string | undefined {
  return decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
}
