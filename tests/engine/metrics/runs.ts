import type { MetricsInput } from "../../../engine/metrics/input.ts";
import { TradeTally } from "../../../engine/metrics/trade_tally.ts";

export const DAY = 86_400_000;

/** One trade for a test: times in days, `exitDay` null while it is open. */
export interface TradeRow {
  readonly pnl: number;
  readonly return?: number;
  readonly entryDay?: number;
  readonly exitDay?: number | null;
  readonly ambiguous?: boolean;
  /** The candles of its entry and exit; absent: none. */
  readonly candles?: readonly [entry: number, exit: number];
}

/** Adds trades up as the simulator does. */
export function tallyOf(rows: readonly TradeRow[]): TradeTally {
  const tally = new TradeTally(rows.length);
  for (const { pnl, return: fraction = 0, entryDay = 0, exitDay = 1, ambiguous = false, candles } of rows) {
    const [entryIndex, exitIndex] = candles ?? [0, -1];
    tally.count(entryIndex, exitIndex, ambiguous);
    if (exitDay !== null) tally.close(pnl, fraction, exitDay - entryDay);
  }
  return tally;
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
    trades: tallyOf(trades ?? []),
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
