import { and, asc, eq, getTableColumns, gt, sql } from "drizzle-orm";
import { EXIT_REASONS, type TradeColumns } from "../engine/trade_columns.ts";
import type { Db } from "./client.ts";
import { backtests, backtestTrades } from "./schema.ts";
import { storableText } from "./storable.ts";

export type Trade = typeof backtestTrades.$inferSelect;

// Bounds the size of one statement: about 4 MB.
const ROWS_PER_INSERT = 16_384;

/** A run's trades, to be numbered from 1 in the order of the columns. */
export interface RunTrades {
  readonly backtestId: string;
  readonly trades: TradeColumns;
}

interface Slice extends RunTrades {
  readonly from: number;
  readonly to: number;
}

/** Writes the trades of one or many runs. */
export async function insertTrades(tx: Db, runs: readonly RunTrades[]): Promise<void> {
  let slices: Slice[] = [];
  let rows = 0;
  for (const run of runs) {
    for (let from = 0; from < run.trades.count;) {
      const to = Math.min(run.trades.count, from + ROWS_PER_INSERT - rows);
      slices.push({ ...run, from, to });
      rows += to - from;
      from = to;
      if (rows < ROWS_PER_INSERT) continue;
      await insertSlices(tx, slices);
      slices = [];
      rows = 0;
    }
  }
  if (rows > 0) await insertSlices(tx, slices);
}

// One parameter a column instead of one a value: 100,000 trades would be 1.6 million parameters. The arrays travel as
// PostgreSQL's own array text, which every driver passes on untouched.
async function insertSlices(tx: Db, slices: readonly Slice[]): Promise<void> {
  const array = (texts: (slice: Slice) => string) => sql`${`{${slices.map(texts).join()}}`}::text`;
  const numbers = (pick: (trades: TradeColumns) => Float64Array | Int32Array | Int8Array | Uint8Array) =>
    array(({ trades, from, to }) => pick(trades).subarray(from, to).join());
  const numbersOrNull = (pick: (trades: TradeColumns) => Float64Array) =>
    array(({ trades, from, to }) =>
      Array.from(pick(trades).subarray(from, to), (value) => Number.isNaN(value) ? "NULL" : value).join()
    );
  const texts = (pick: (trades: TradeColumns, row: number) => string | null) =>
    array(({ trades, from, to }) => rowsOf(from, to, (row) => quoteElement(pick(trades, row))));
  await tx.execute(sql`
    insert into ${backtestTrades} (
      backtest_id, number, side, quantity, entry_time, entry_price, exit_time, exit_price, fees, pnl, "return", candles,
      mae, mfe, exit_reason, ambiguous, tag)
    select backtest_id, number, case when side > 0 then 'long' else 'short' end, quantity,
      to_timestamp(entry_time / 1000), entry_price, to_timestamp(exit_time / 1000), exit_price, fees, pnl, fraction,
      candles, mae, mfe, exit_reason, ambiguous <> 0, tag
    from unnest(
      ${array(({ backtestId, from, to }) => rowsOf(from, to, () => backtestId))}::uuid[],
      ${array(({ from, to }) => rowsOf(from, to, (row) => String(row + 1)))}::integer[],
      ${numbers(({ side }) => side)}::integer[], ${numbers(({ quantity }) => quantity)}::float8[],
      ${numbers(({ entryTime }) => entryTime)}::float8[], ${numbers(({ entryPrice }) => entryPrice)}::float8[],
      ${numbersOrNull(({ exitTime }) => exitTime)}::float8[], ${numbersOrNull(({ exitPrice }) => exitPrice)}::float8[],
      ${numbers(({ fees }) => fees)}::float8[], ${numbers(({ pnl }) => pnl)}::float8[],
      ${numbers((trades) => trades.return)}::float8[], ${numbers(({ candles }) => candles)}::integer[],
      ${numbers(({ mae }) => mae)}::float8[], ${numbers(({ mfe }) => mfe)}::float8[],
      ${texts(({ exitReason }, row) => EXIT_REASONS[exitReason[row]!] ?? null)}::text[],
      ${numbers(({ ambiguous }) => ambiguous)}::integer[], ${texts(({ tag }, row) => tag[row] ?? null)}::text[]
    ) as t(
      backtest_id, number, side, quantity, entry_time, entry_price, exit_time, exit_price, fees, pnl, fraction, candles,
      mae, mfe, exit_reason, ambiguous, tag)`);
}

function rowsOf(from: number, to: number, text: (row: number) => string): string {
  return Array.from({ length: to - from }, (_, index) => text(from + index)).join();
}

function quoteElement(value: string | null): string {
  if (value === null) return "NULL";
  return `"${storableText(value).replace(/["\\]/g, "\\$&")}"`;
}

/**
 * One user's trades of one backtest, oldest first.
 *
 * @param page `after`: only trades numbered above this (0: from the first); `limit`: rows at most.
 */
export async function listTrades(db: Db, page: {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly after: number;
  readonly limit: number;
}): Promise<Trade[]> {
  return await db.select(getTableColumns(backtestTrades))
    .from(backtestTrades)
    .innerJoin(backtests, and(eq(backtests.id, backtestTrades.backtestId), eq(backtests.ownerId, page.ownerId)))
    .where(and(eq(backtestTrades.backtestId, page.backtestId), gt(backtestTrades.number, page.after)))
    .orderBy(asc(backtestTrades.number))
    .limit(page.limit);
}
