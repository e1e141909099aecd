import type { Candles } from "../../engine/candles.ts";
import { DAY_MS } from "../../engine/time/durations.ts";
import { type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import { run, type RunResult } from "../../engine/run.ts";
import type { Account, OrderBook, OrderDraft, Strategy } from "../../engine/strategy.ts";
import { newDraft } from "../../engine/strategy.ts";
import { EXIT_REASONS, STILL_OPEN } from "../../engine/trade_columns.ts";

export { DAY_MS };

/** A candle as a trader writes it: open, high, low, close, and volume (1000 if left out). */
export type Row = readonly [open: number, high: number, low: number, close: number, volume?: number];

/** Daily candles from 1970-01-01 on. */
export function candlesOf(rows: readonly Row[]): Candles {
  const column = (field: 0 | 1 | 2 | 3) => Float64Array.from(rows, (row) => row[field]);
  return {
    time: Float64Array.from(rows, (_row, i) => i * DAY_MS),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: Float64Array.from(rows, (row) => row[4] ?? 1000),
  };
}

/** Candles that open at one price and do not move from it. */
export function flat(...prices: number[]): Row[] {
  return prices.map((price) => [price, price, price, price]);
}

/** A draft with some fields changed: by default a market buy of default size. */
export function order(fields: Partial<OrderDraft>): OrderDraft {
  return { ...newDraft(), ...fields };
}

type Decision = (book: OrderBook, account: Account) => void;

/** A strategy of scripted decisions, by the index of the candle. */
export function script(decisions: Readonly<Record<number, Decision>>): Strategy {
  return {
    warmup: 1,
    prepare() {},
    decide(i, account, book) {
      decisions[i]?.(book, account);
    },
  };
}

/** Runs a strategy over all candles, by default with 1000 in the account. */
export function runOver(
  rows: readonly Row[] | Candles,
  strategy: Strategy,
  execution: ExecutionRequest = {},
  initialBalance = 1000,
): RunResult {
  return run({
    candles: "time" in rows ? rows : candlesOf(rows),
    firstIndex: 0,
    timeframeMs: DAY_MS,
    initialBalance,
    execution: resolveExecution(execution, "crypto"),
    strategy,
    control: null,
  });
}

/** A trade with candles instead of times. */
export interface ListedTrade {
  readonly side: "long" | "short";
  readonly quantity: number;
  readonly entry: readonly [candle: number, price: number];
  readonly exit: readonly [candle: number, price: number] | null;
  readonly reason: string | null;
  readonly pnl: number;
  readonly fees: number;
}

/** The trades of a run, in candles instead of times. */
export function listTrades({ trades }: RunResult): ListedTrade[] {
  return Array.from({ length: trades.count }, (_, k) => {
    const isOpen = trades.exitReason[k] === STILL_OPEN;
    return {
      side: trades.side[k] === 1 ? "long" : "short",
      quantity: trades.quantity[k]!,
      entry: [trades.entryTime[k]! / DAY_MS, trades.entryPrice[k]!],
      exit: isOpen ? null : [trades.exitTime[k]! / DAY_MS, trades.exitPrice[k]!],
      reason: isOpen ? null : EXIT_REASONS[trades.exitReason[k]!] ?? null,
      pnl: trades.pnl[k]!,
      fees: trades.fees[k]!,
    };
  });
}
