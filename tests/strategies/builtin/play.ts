import type { Candles } from "../../../engine/candles.ts";
import { type ExecutionRequest, resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { EXIT_REASONS } from "../../../engine/trade_columns.ts";
import type { Builtin } from "../../../strategies/builtin/builtin.ts";

const HOUR = 3_600_000;

/** A candle on paper: open, high, low, close. */
export type Row = readonly [open: number, high: number, low: number, close: number];

/** A trade on paper: candles are counted from 0; the exit of an open trade is null and its pnl is at the last close. */
export interface PaperTrade {
  readonly side: "long" | "short";
  readonly quantity: number;
  readonly entry: readonly [candle: number, price: number];
  readonly exit: readonly [candle: number, price: number, reason: string] | null;
  readonly pnl: number;
}

/** Hourly candles with ample volume. */
export function candlesOf(rows: readonly Row[]): Candles {
  const column = (index: 0 | 1 | 2 | 3) => Float64Array.from(rows, (row) => row[index]);
  return {
    time: Float64Array.from(rows, (_, i) => i * HOUR),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: new Float64Array(rows.length).fill(1e9),
  };
}

/** A built-in strategy's default parameters, overridden. */
export function parametersOf(builtin: Builtin, parameters: Readonly<Record<string, unknown>> = {}) {
  const defaults = Object.entries(builtin.parameter_schema.properties).map(([name, schema]) => [name, schema.default]);
  return { ...Object.fromEntries(defaults), ...parameters };
}

/** Runs a built-in, by default with a balance of 1,000 and one unit an order. */
export function play(
  builtin: Builtin,
  rows: readonly Row[],
  parameters: Readonly<Record<string, unknown>>,
  { initialBalance = 1000, ...execution }: ExecutionRequest & { readonly initialBalance?: number } = {},
): PaperTrade[] {
  const complete = resolveExecution({ sizing: { type: "units", value: 1 }, ...execution }, "crypto");
  const { trades } = run({
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: HOUR,
    initialBalance,
    execution: complete,
    strategy: builtin.create(parametersOf(builtin, parameters), complete),
    control: null,
  });
  return Array.from({ length: trades.count }, (_, i): PaperTrade => {
    const reason = EXIT_REASONS[trades.exitReason[i]!];
    return {
      side: trades.side[i] === 1 ? "long" : "short",
      quantity: rounded(trades.quantity[i]!),
      entry: [trades.entryTime[i]! / HOUR, rounded(trades.entryPrice[i]!)],
      exit: reason === undefined ? null : [trades.exitTime[i]! / HOUR, rounded(trades.exitPrice[i]!), reason],
      pnl: rounded(trades.pnl[i]!),
    };
  });
}

/** Rounds to nine digits after the point. */
function rounded(value: number): number {
  return Math.round(value * 1e9) / 1e9;
}
