import { and, asc, eq, getTableColumns, gt, sql } from "drizzle-orm";
import { EXIT_REASONS, type TradeColumns } from "../engine/trades.ts";
import type { Db } from "./client.ts";
import { backtests, backtestTrades } from "./schema.ts";

export type Trade = typeof backtestTrades.$inferSelect;

// Bounds the size of one statement: about 4 MB.
const ROWS_PER_INSERT = 16_384;

/** Writes a run's trades, numbered from 1 in the order of the columns. */
export async function insertTrades(tx: Db, backtestId: string, trades: TradeColumns): Promise<void> {
  for (let from = 0; from < trades.count; from += ROWS_PER_INSERT) {
    await insertSlice(tx, backtestId, trades, from, Math.min(from + ROWS_PER_INSERT, trades.count));
  }
}

// One parameter a column instead of one a value: 100,000 trades would be 1.6 million parameters. The arrays travel as
// PostgreSQL's own array text, which every driver passes on untouched.
async function insertSlice(
  tx: Db,
  backtestId: string,
  trades: TradeColumns,
  from: number,
  to: number,
): Promise<void> {
  const numbers = (column: Float64Array | Int32Array | Int8Array | Uint8Array) =>
    sql`${`{${column.subarray(from, to).join()}}`}::text`;
  const numbersOrNull = (column: Float64Array) =>
    sql`${`{${Array.from(column.subarray(from, to), (value) => Number.isNaN(value) ? "NULL" : value).join()}}`}::text`;
  // STILL_OPEN names no reason.
  const reasons = Array.from(trades.exitReason.subarray(from, to), (index) => EXIT_REASONS[index] ?? null);
  await tx.execute(sql`
    insert into ${backtestTrades} (
      backtest_id, number, side, quantity, entry_time, entry_price, exit_time, exit_price, fees, pnl, "return", candles,
      mae, mfe, exit_reason, ambiguous, tag)
    select ${backtestId}::uuid, ${from}::integer + ordinal, case when side > 0 then 'long' else 'short' end, quantity,
      to_timestamp(entry_time / 1000), entry_price, to_timestamp(exit_time / 1000), exit_price, fees, pnl, fraction,
      candles, mae, mfe, exit_reason, ambiguous <> 0, tag
    from unnest(
      ${numbers(trades.side)}::integer[], ${numbers(trades.quantity)}::float8[],
      ${numbers(trades.entryTime)}::float8[], ${numbers(trades.entryPrice)}::float8[],
      ${numbersOrNull(trades.exitTime)}::float8[], ${numbersOrNull(trades.exitPrice)}::float8[],
      ${numbers(trades.fees)}::float8[], ${numbers(trades.pnl)}::float8[], ${numbers(trades.return)}::float8[],
      ${numbers(trades.candles)}::integer[], ${numbers(trades.mae)}::float8[], ${numbers(trades.mfe)}::float8[],
      ${textArray(reasons)}::text::text[], ${numbers(trades.ambiguous)}::integer[],
      ${textArray(trades.tag.slice(from, to))}::text::text[]
    ) with ordinality as t(
      side, quantity, entry_time, entry_price, exit_time, exit_price, fees, pnl, fraction, candles, mae, mfe,
      exit_reason, ambiguous, tag, ordinal)`);
}

function textArray(values: readonly (string | null)[]): string {
  const quoted = values.map((value) => value === null ? "NULL" : `"${value.replace(/["\\]/g, "\\$&")}"`);
  return `{${quoted.join()}}`;
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
