import type { MetricsInput } from "../../../engine/metrics/input.ts";
import { NO_ORDER, STILL_OPEN, type TradeColumns } from "../../../engine/trade_columns.ts";

export const DAY = 86_400_000;

/** One trade for a test: times in days, `exitDay` null while it is open. */
export interface TradeRow {
  readonly pnl: number;
  readonly return?: number;
  readonly entryDay?: number;
  readonly exitDay?: number | null;
  readonly ambiguous?: boolean;
}

/** Trades as the simulator returns them. */
export function tradeColumns(rows: readonly TradeRow[]): TradeColumns {
  const ones = Float64Array.from(rows, () => 1);
  const exitDays = rows.map((row) => row.exitDay === undefined ? 1 : row.exitDay);
  return {
    count: rows.length,
    side: Int8Array.from(rows, () => 1),
    quantity: ones,
    entryTime: Float64Array.from(rows, (row) => (row.entryDay ?? 0) * DAY),
    entryPrice: ones,
    exitTime: Float64Array.from(exitDays, (day) => day === null ? NaN : day * DAY),
    exitPrice: ones,
    fees: Float64Array.from(rows, () => 0),
    pnl: Float64Array.from(rows, (row) => row.pnl),
    return: Float64Array.from(rows, (row) => row.return ?? 0),
    candles: Int32Array.from(rows, () => 1),
    mae: Float64Array.from(rows, () => 0),
    mfe: Float64Array.from(rows, () => 0),
    exitReason: Uint8Array.from(exitDays, (day) => day === null ? STILL_OPEN : 0),
    ambiguous: Uint8Array.from(rows, (row) => row.ambiguous === true ? 1 : 0),
    entryOrder: new Int32Array(rows.length),
    exitOrder: new Int32Array(rows.length).fill(NO_ORDER),
    tag: rows.map(() => null),
    exitTag: rows.map(() => null),
  };
}

/** A run of daily candles from 2024-01-01 with an initial balance of 100, unless `over` says otherwise. */
export function runOf(
  equity: readonly number[],
  { days, close, trades, ...over }: Partial<Omit<MetricsInput, "time" | "close" | "trades">> & {
    readonly days?: readonly number[];
    readonly close?: readonly number[];
    readonly trades?: readonly TradeRow[];
  } = {},
): MetricsInput {
  const start = Date.UTC(2024, 0, 1);
  return {
    time: Float64Array.from(equity, (_, i) => start + (days?.[i] ?? i) * DAY),
    close: Float64Array.from(close ?? equity),
    equity: Float64Array.from(equity),
    trades: tradeColumns(trades ?? []),
    exposedCandles: 0,
    initialBalance: 100,
    timeframeMs: DAY,
    riskFreeRate: 0,
    periodsPerYear: 365,
    rejectedOrders: 0,
    feesPaid: 0,
    tradedValue: 0,
    cashInterest: 0,
    ...over,
  };
}
