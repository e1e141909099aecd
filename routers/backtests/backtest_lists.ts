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
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { toBacktest, toSummary } from "./backtest_records.ts";
import { strategyNameSchema } from "./backtest_submission.ts";
import { tagSchema } from "./backtest_labels.ts";
import { dateSchema, requireRising } from "../common/dates.ts";
import { mustBe } from "../common/errors.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
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
  /** Leaves out those that have it. */
  not_tag: tagSchema.optional(),
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
  { sort, order, cursor, created_from, created_to, not_tag: notTag, ...filters }: RunsRequest,
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
        const page = { ...filters, notTag, ownerId, createdFrom, createdTo, sort, order, limit };
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
