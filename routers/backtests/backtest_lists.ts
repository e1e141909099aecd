import { z } from "zod";
import {
  BACKTEST_SORTS,
  type BacktestPlace,
  type BacktestSort,
  type BacktestsPage,
  listBacktests,
  listBacktestSummaries,
  placeOf,
  SORT_ORDERS,
} from "../../db/backtest_lists.ts";
import type { Db } from "../../db/client.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import { listOrders, type Order } from "../../db/orders.ts";
import type { CutChunk } from "../../db/row_pages.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { listTrades, type Trade } from "../../db/trades.ts";
import { toBacktest, toOrder, toSummary, toTrade } from "./backtest_records.ts";
import { strategyNameSchema } from "./backtest_submission.ts";
import { tagSchema } from "./backtest_labels.ts";
import { dateSchema, requireRising } from "../common/dates.ts";
import { mustBe } from "../common/errors.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { mustGet } from "./owned_backtest.ts";
import type { Context } from "../common/trpc.ts";
import { decodeCursor, type List } from "../common/paging.ts";
import { leavingOutUnreadable } from "../common/stored_records.ts";

const SEARCH_LENGTH_MAX = 100;
const flagSchema = z.union(
  [z.boolean(), z.enum(["true", "false"]).transform((text) => text === "true")],
  mustBe("true or false"),
);

/** The filters and the order of a list of backtests. */
export const backtestFilters = {
  status: z.enum(BACKTEST_STATUSES).optional(),
  strategy: strategyNameSchema.optional(),
  symbol: marketNameSchema.optional(),
  exchange: marketNameSchema.optional(),
  tag: tagSchema.optional(),
  starred: flagSchema.optional(),
  created_from: dateSchema.optional(),
  created_to: dateSchema.optional(),
  search: z.string().trim().normalize("NFC").min(1).max(SEARCH_LENGTH_MAX).optional(),
  sort: z.enum(BACKTEST_SORTS).default("created"),
  order: z.enum(SORT_ORDERS).default("desc"),
};

type RunsRequest = z.infer<z.ZodObject<typeof backtestFilters>> & { readonly cursor?: string | undefined };

/** One user's backtests, in the order and from the place that a request asks for. A record has up to 140 KiB. */
export function backtestList(db: Db, ownerId: string, request: RunsRequest) {
  const read = (page: BacktestsPage) => listBacktests(db, page);
  return orderedList(ownerId, request, { read, show: toBacktest, pieceRows: 20 });
}

/** The same without parameters, notes and results. */
export function summaryList(db: Db, ownerId: string, request: RunsRequest) {
  const read = (page: BacktestsPage) => listBacktestSummaries(db, page);
  return orderedList(ownerId, request, { read, show: toSummary, pieceRows: 500 });
}

/** A list, and the key after which the request's part of it begins. */
export interface OrderedList<Row, Item> {
  readonly list: List<Row, Item>;
  readonly after: string | undefined;
}

function orderedList<Row extends Parameters<typeof placeOf>[0], Item>(
  ownerId: string,
  { sort, order, cursor, created_from, created_to, ...filters }: RunsRequest,
  { read, show, pieceRows }: {
    readonly read: (page: BacktestsPage) => Promise<Row[]>;
    readonly show: (row: Row) => Item;
    readonly pieceRows: number;
  },
): OrderedList<Row, Item> {
  const createdFrom = toTime(created_from);
  const createdTo = toTime(created_to);
  requireRising(createdFrom, createdTo, { start: "/created_from", end: "/created_to" });
  const key = keyOf(sort, order);
  return {
    list: {
      read: (after, limit) => {
        const page = { ...filters, ownerId, createdFrom, createdTo, sort, order, limit };
        return read({ ...page, after: after === undefined ? undefined : key.parse(after) });
      },
      key: (row) => key.write(placeOf(row, sort)),
      show: leavingOutUnreadable(show),
      pieceRows,
    },
    after: decodeCursor(cursor, key.shape),
  };
}

/** How a place is written in a cursor: with its order, since no other order has a record at that place. */
function keyOf(sort: BacktestSort, order: string) {
  if (sort === "created") {
    return { shape: z.uuid(), write: ({ id }: BacktestPlace) => id, parse: (id: string) => ({ value: null, id }) };
  }
  const prefix = `${sort} ${order} `;
  const metric = z.union([z.literal("null"), z.string().regex(/^-?\d+(\.\d+)?(e[+-]\d+)?$/)]);
  const shape = z.string().startsWith(prefix).refine((text) => {
    const [value, id, ...rest] = text.slice(prefix.length).split(" ");
    return metric.safeParse(value).success && z.uuid().safeParse(id).success && rest.length === 0;
  });
  const parse = (text: string): BacktestPlace => {
    const [value = "", id = ""] = text.slice(prefix.length).split(" ");
    return { value: value === "null" ? null : Number(value), id };
  };
  return { shape, write: ({ value, id }: BacktestPlace) => `${prefix}${value} ${id}`, parse };
}

const toTime = (date: string | undefined) => date === undefined ? undefined : Date.parse(`${date}T00:00:00Z`);

/** Rows of a piece of a list: it takes some milliseconds, in which nobody else is answered. */
const PIECE_ROWS = 200;

type Reading = Pick<Context, "db" | "rowsWorker">;

interface RunKey {
  readonly backtestId: string;
  readonly ownerId: string;
  /** Its markets; none in a run over one. */
  readonly instruments: readonly string[];
}

/** A run's trades, oldest first. */
export function tradeList(ctx: Reading, run: RunKey): List<Trade, ReturnType<typeof toTrade>> {
  return {
    read: (after, limit) => readRows(ctx, run, { after, limit }, listTrades),
    key: (row) => String(row.number),
    show: (row) => readRecord(`trades of the backtest ${run.backtestId}`, () => toTrade(row, run.instruments)),
    pieceRows: PIECE_ROWS,
  };
}

/** A run's orders, in order of placement. */
export function orderList(ctx: Reading, run: RunKey): List<Order, ReturnType<typeof toOrder>> {
  return {
    read: (after, limit) => readRows(ctx, run, { after, limit }, listOrders),
    key: (row) => String(row.number),
    show: (row) => readRecord(`orders of the backtest ${run.backtestId}`, () => toOrder(row, run.instruments)),
    pieceRows: PIECE_ROWS,
  };
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

/** The key in a cursor of trades or orders. */
export function afterNumber(cursor: string | undefined): string | undefined {
  return decodeCursor(cursor, z.string().regex(/^\d{1,9}$/));
}
