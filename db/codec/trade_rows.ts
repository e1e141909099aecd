import { EXIT_REASONS, NO_ORDER, STILL_OPEN } from "../../engine/trade_columns.ts";
import type { TRADE_COLUMNS } from "./result_parts.ts";
import { nameAt, requireColumn } from "./unreadable.ts";

/** A trade as it is read back; see TradeColumns. */
export interface Trade {
  /** From 1, in order of the first entry fill. */
  readonly number: number;
  readonly side: "long" | "short";
  readonly quantity: number;
  readonly entryTime: Date;
  readonly entryPrice: number;
  /** Null while the trade is open, as are the price and the reason. */
  readonly exitTime: Date | null;
  readonly exitPrice: number | null;
  readonly fees: number;
  readonly pnl: number;
  readonly return: number;
  readonly candles: number;
  readonly mae: number;
  readonly mfe: number;
  readonly exitReason: string | null;
  readonly ambiguous: boolean;
  /** Numbers of the orders that opened and closed it; null where none closed it, and in results from before they were kept. */
  readonly entryOrder: number | null;
  readonly exitOrder: number | null;
  readonly tag: string | null;
  readonly exitTag: string | null;
  /** Row of the run's markets; null in a run over one. */
  readonly market: number | null;
}

/** A trade from row `i` of stored columns. @throws {Error} Where they are damaged, or of a newer build. */
export function toTrade(
  columns: Readonly<Record<string, Float64Array>>,
  i: number,
  number: number,
  tag: string | null,
  exitTag: string | null,
): Trade {
  const value = (name: (typeof TRADE_COLUMNS)[number]) => requireColumn(columns, name)[i]!;
  // Orders are numbered from 1; older results lack them.
  const orderOf = (name: "entryOrder" | "exitOrder") => {
    const order = columns[name]?.[i] ?? NO_ORDER;
    return order >= 0 ? order + 1 : null;
  };
  const exitReason = value("exitReason");
  const exitTime = value("exitTime");
  const exitPrice = value("exitPrice");
  return {
    number,
    side: value("side") > 0 ? "long" : "short",
    quantity: value("quantity"),
    entryTime: new Date(value("entryTime")),
    entryPrice: value("entryPrice"),
    exitTime: Number.isNaN(exitTime) ? null : new Date(exitTime),
    exitPrice: Number.isNaN(exitPrice) ? null : exitPrice,
    fees: value("fees"),
    pnl: value("pnl"),
    return: value("return"),
    candles: value("candles"),
    mae: value("mae"),
    mfe: value("mfe"),
    exitReason: exitReason === STILL_OPEN ? null : nameAt(EXIT_REASONS, exitReason, "exit reason"),
    ambiguous: value("ambiguous") !== 0,
    entryOrder: orderOf("entryOrder"),
    exitOrder: orderOf("exitOrder"),
    tag,
    exitTag,
    market: columns.market?.[i] ?? null,
  };
}
