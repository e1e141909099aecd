/** The trades and orders of a chunk as rows of an answer. */
import { type Order, toOrder } from "../../db/codec/order_rows.ts";
import type { ResultRows } from "../../db/codec/result_rows.ts";
import { toTrade, type Trade } from "../../db/codec/trade_rows.ts";
import { csvLines, toTablePart } from "./table_part.ts";
import type { Column, Format } from "./table_format.ts";
import { ArrowWriter } from "./arrow_writer.ts";

const encoder = new TextEncoder();

/** A market of a run over many. */
export interface RunMarket {
  /** `SPY@ARCA`. */
  readonly instrument: string;
  /** Of its prices; absent where all of the run count in one. */
  readonly currency?: string;
}

/** How the rows of a list are written. */
export interface RowsForm {
  readonly part: "trades" | "orders";
  readonly format: Format;
  /** Of CSV and Arrow. */
  readonly columns: readonly Column[];
  /** The run's markets; none in a run over one. */
  readonly markets: readonly RunMarket[];
  /** The number of the first row. */
  readonly number: number;
}

/**
 * Rows in a format: JSON without the list's brackets, CSV without its head, Arrow as a batch.
 *
 * @throws {Error} Where the rows are damaged, or of a newer build.
 */
export function writeResultRows(rows: ResultRows, form: RowsForm): Uint8Array<ArrayBuffer> {
  const { part, format, columns, markets, number } = form;
  const { count, columns: stored, tags } = rows;
  const items = Array.from({ length: count }, (_, i) => {
    const [tag, exitTag] = [tags?.[i] ?? null, tags?.[count + i] ?? null];
    return part === "trades"
      ? showTrade(toTrade(stored, i, number + i, tag, exitTag), markets)
      : showOrder(toOrder(stored, i, number + i, tag), markets);
  });
  if (format === "json") return encoder.encode(items.map((item) => JSON.stringify(item)).join());
  const table = toTablePart(columns, items);
  return format === "csv"
    ? encoder.encode(csvLines(columns, table))
    : new ArrowWriter(columns, {}).batch(table.length, table.values);
}

/** A trade as clients read it. @param markets The run's; none in a run over one. */
export function showTrade(row: Trade, markets: readonly RunMarket[]) {
  return {
    number: row.number,
    side: row.side,
    quantity: row.quantity,
    entry_time: row.entryTime.toISOString(),
    entry_price: row.entryPrice,
    exit_time: row.exitTime?.toISOString() ?? null,
    exit_price: row.exitPrice,
    fees: row.fees,
    pnl: row.pnl,
    return: row.return,
    candles: row.candles,
    mae: row.mae,
    mfe: row.mfe,
    exit_reason: row.exitReason,
    ambiguous: row.ambiguous,
    tag: row.tag,
    entry_order: row.entryOrder,
    exit_order: row.exitOrder,
    exit_tag: row.exitTag,
    ...showMarket(row, markets),
  };
}

/** An order as clients read it. @param markets As for showTrade(). */
export function showOrder(row: Order, markets: readonly RunMarket[]) {
  return {
    number: row.number,
    placed_time: row.time.toISOString(),
    side: row.side,
    type: row.type,
    quantity: row.quantity,
    limit_price: row.limitPrice,
    stop_price: row.stopPrice,
    status: row.status,
    reason: row.reason,
    filled_quantity: row.filledQuantity,
    price: row.price,
    fill_time: row.fillTime?.toISOString() ?? null,
    tag: row.tag,
    ...showMarket(row, markets),
  };
}

function showMarket({ market }: Pick<Trade, "market">, markets: readonly RunMarket[]) {
  const found = market === null ? undefined : markets[market];
  return { instrument: found?.instrument ?? null, currency: found?.currency ?? null };
}
