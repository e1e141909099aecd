/** A run's trades in any order, and those of a kind: read block by block, ordered in the thread of rows, which keeps the order. */
import type { Backtest } from "../../db/backtests.ts";
import { CHUNK_ROWS, type TRADE_COLUMNS } from "../../db/codec/result_parts.ts";
import type { ResultRows } from "../../db/codec/result_rows.ts";
import type { Trade } from "../../db/codec/trade_rows.ts";
import { readRecord, requireColumn } from "../../db/codec/unreadable.ts";
import { findRow, pickTrades } from "../../db/row_pages.ts";
import type { OrderedRows, WantedRows } from "../../workers/rows/row_order.ts";
import { readWhole, turnsOf } from "../common/large_reads.ts";
import type { UserContext } from "../common/trpc.ts";
import { mustGet } from "./owned_backtest.ts";

/** The fields by which trades are ordered, besides their number, and their stored columns. */
const SORTED = {
  quantity: "quantity",
  entry_time: "entryTime",
  exit_time: "exitTime",
  pnl: "pnl",
  return: "return",
  candles: "candles",
  mae: "mae",
  mfe: "mfe",
  fees: "fees",
} as const satisfies Readonly<Record<string, (typeof TRADE_COLUMNS)[number]>>;

type TradeSort = "number" | keyof typeof SORTED;
export const TRADE_SORTS = [
  "number",
  "quantity",
  "entry_time",
  "exit_time",
  "pnl",
  "return",
  "candles",
  "mae",
  "mfe",
  "fees",
] as const satisfies readonly TradeSort[];
export const TRADE_SIDES = ["all", "long", "short"] as const;
export const TRADE_OUTCOMES = ["all", "won", "lost", "open"] as const;

/** Trades of a kind in an order. */
interface TradeArrangement {
  readonly sort: TradeSort;
  readonly order: "asc" | "desc";
  readonly side: (typeof TRADE_SIDES)[number];
  readonly outcome: (typeof TRADE_OUTCOMES)[number];
  /** A row of the run's markets; undefined: all. */
  readonly market: number | undefined;
}

/**
 * All trades of a run in blocks of a stored chunk, each in a turn of the user's.
 *
 * @throws AppError BACKTEST_NOT_FOUND where it is deleted meanwhile.
 */
export async function* tradeBlocks(ctx: UserContext, { id, ownerId }: Backtest): AsyncGenerator<ResultRows> {
  const run = turnsOf(ctx);
  for (let index = 0;; index += CHUNK_ROWS) {
    const { source, from } = findRow(ctx.db, { backtestId: id, ownerId, part: "trades" }, index);
    const rows = await run(() => ctx.rowsWorker.cut(source, { from, until: from + CHUNK_ROWS }));
    if (rows !== undefined) yield rows;
    if (rows === undefined || rows.count < CHUNK_ROWS) break;
  }
  // A deleted backtest has no rows left, so the part that was read would pass for the whole.
  await mustGet(ctx.db, id, ownerId);
}

/** Some of the trades of a kind, in their order, and how many there are in all. */
export async function readArranged(
  ctx: UserContext,
  row: Backtest,
  arrangement: TradeArrangement,
  wanted: { readonly from: number; readonly until: number },
): Promise<{ trades: Trade[]; matching: number }> {
  const { sort, order, side, outcome, market = "all" } = arrangement;
  const name = [sort, order, side, outcome, market].join(" ");
  const about = { name, isDown: order === "desc", width: 1, wanted };
  const { rows, count } = await orderTrades(ctx, row, about, (block, first) => {
    const value = sort === "number" ? (i: number) => first + i : keyOf(block, sort);
    const fits = filterOf(block, arrangement);
    return (i) => [fits(i) ? value(i) : NaN];
  });
  return { trades: await pick(ctx, row, rows), matching: count };
}

/**
 * Trades with an entry or an exit in a stretch of time, oldest first, and how many entries and exits there are.
 *
 * @param least To `most`, both included, in milliseconds since 1970. @param fillsMax Of more than this, no trade is given.
 */
export async function readFilled(
  ctx: UserContext,
  row: Backtest,
  { least, most, market, fillsMax }: {
    readonly least: number;
    readonly most: number;
    readonly market: number | undefined;
    readonly fillsMax: number;
  },
): Promise<{ trades: Trade[]; fills: number }> {
  const order = {
    ...{ name: `fills ${market ?? "all"}`, isDown: false, width: 2 },
    wanted: { least, most, rowsMax: fillsMax },
  };
  const { rows, count } = await orderTrades(ctx, row, order, ({ columns }) => {
    const [entry, exit] = [requireColumn(columns, "entryTime"), requireColumn(columns, "exitTime")];
    return (i) => market === undefined || columns["market"]?.[i] === market ? [entry[i]!, exit[i]!] : [NaN, NaN];
  });
  const places = new Set(Array.from(rows, (fill) => fill >>> 1).sort((a, b) => a - b));
  return { trades: await pick(ctx, row, places), fills: count };
}

/** Takes trades out of an order. @param keysOf Gives the `width` keys of a block's trade; NaN leaves it out. `first` is the block's first. */
async function orderTrades(
  ctx: UserContext,
  row: Backtest,
  { name, isDown, width, wanted }: {
    readonly name: string;
    readonly isDown: boolean;
    readonly width: number;
    readonly wanted: WantedRows;
  },
  keysOf: (block: ResultRows, first: number) => (i: number) => readonly number[],
): Promise<OrderedRows> {
  const key = `${row.id} trades ${name}`;
  const known = await ctx.rowsWorker.order(key, null, wanted);
  if (known !== undefined) return known;
  return await readWhole(ctx, async () => {
    // Another request may have made it meanwhile.
    const made = await ctx.rowsWorker.order(key, null, wanted);
    if (made !== undefined) return made;
    const keys = await readKeys(ctx, row, width, keysOf);
    const ordered = await turnsOf(ctx)(() => ctx.rowsWorker.order(key, { keys, isDown }, wanted));
    return ordered ?? { rows: new Uint32Array(), count: 0 };
  });
}

async function readKeys(
  ctx: UserContext,
  row: Backtest,
  width: number,
  keysOf: (block: ResultRows, first: number) => (i: number) => readonly number[],
): Promise<Float64Array<ArrayBuffer>> {
  const parts: Float64Array[] = [];
  let first = 0;
  for await (const block of tradeBlocks(ctx, row)) {
    const part = new Float64Array(block.count * width);
    readRecord(`trades of the backtest ${row.id}`, () => {
      const read = keysOf(block, first);
      for (let i = 0; i < block.count; i++) part.set(read(i), i * width);
    });
    parts.push(part);
    first += block.count;
  }
  const keys = new Float64Array(first * width);
  parts.forEach((part, i) => keys.set(part, i * CHUNK_ROWS * width));
  return keys;
}

function keyOf({ columns }: ResultRows, sort: keyof typeof SORTED): (i: number) => number {
  const values = requireColumn(columns, SORTED[sort]);
  // An open trade has no exit; it counts as the latest.
  return sort === "exit_time" ? (i) => Number.isNaN(values[i]) ? Infinity : values[i]! : (i) => values[i]!;
}

function filterOf({ columns }: ResultRows, { side, outcome, market }: TradeArrangement): (i: number) => boolean {
  const [sides, pnl, exit] = [
    requireColumn(columns, "side"),
    requireColumn(columns, "pnl"),
    requireColumn(columns, "exitTime"),
  ];
  const isOutcome = {
    all: () => true,
    won: (i: number) => pnl[i]! > 0,
    lost: (i: number) => pnl[i]! < 0,
    open: (i: number) => Number.isNaN(exit[i]),
  }[outcome];
  return (i) =>
    (market === undefined || columns["market"]?.[i] === market) &&
    (side === "all" || (side === "long") === (sides[i]! > 0)) && isOutcome(i);
}

/** The trades at some places. @throws AppError BACKTEST_NOT_FOUND where their backtest is deleted meanwhile. */
async function pick(ctx: UserContext, { id, ownerId }: Backtest, places: Iterable<number>): Promise<Trade[]> {
  const wanted = [...places];
  const trades = await turnsOf(ctx)(() =>
    pickTrades(ctx.db, { backtestId: id, ownerId }, wanted, (...chunk) => ctx.rowsWorker.cut(...chunk))
  );
  if (trades.length < wanted.length) await mustGet(ctx.db, id, ownerId);
  return trades;
}
