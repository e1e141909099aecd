import type { Account, OrderBook } from "../../../engine/strategy.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { candleMs } from "../candle_series.ts";
import { PROTOCOL_VERSION } from "./answer.ts";
import { writeInputs } from "./request_inputs.ts";
import type { Stretch } from "./stretch.ts";

/** The state that a step request has besides the candles. */
export interface StepState {
  readonly account: Account;
  readonly book: OrderBook;
  readonly workingIds: readonly string[];
}

/** The first candle on which a remote strategy decides. */
export function firstDecision({ firstIndex, minCandles }: RemoteTask): number {
  return Math.max(firstIndex, minCandles - 1);
}

/** A request's body. On the wire, candle 0 is the first of the run's range. */
export function writeRequest(task: RemoteTask, { from, first, until }: Stretch, state: StepState | null): string {
  const { time, open, high, low, close, volume } = task.candles;
  const column = (values: Float64Array) => Array.from(values.subarray(from, until));
  return JSON.stringify({
    version: PROTOCOL_VERSION,
    run_id: task.runId,
    mode: task.mode,
    ...task.instrument,
    timeframe_ms: candleMs(task.timeframeMs),
    initial_balance: task.initialBalance,
    parameters: task.parameters,
    lookback_candles: task.lookbackCandles,
    first_asked: first - task.firstIndex,
    asked: until - first,
    candles: {
      time: column(time),
      open: column(open),
      high: column(high),
      low: column(low),
      close: column(close),
      volume: column(volume),
    },
    ...writeInputs(task, { from, first, until }),
    ...(state === null ? {} : writeState(state)),
  });
}

function writeState({ account, book, workingIds }: StepState): Readonly<Record<string, unknown>> {
  return {
    account: {
      cash: account.cash,
      equity: account.equity,
      quantity: account.quantity,
      entry_price: Number.isNaN(account.entryPrice) ? null : account.entryPrice,
    },
    open_trades: writeTrades(book),
    working_orders: workingIds,
  };
}

/** The open trades of a book as requests have them. */
export function writeTrades(book: OrderBook): readonly object[] {
  const trades = Array.from({ length: book.openTrades }, (_, n) => book.tradeAt(n));
  return trades.map((trade) => ({
    trade,
    quantity: book.tradeQuantity(trade),
    entry_price: book.tradeEntryPrice(trade),
  }));
}
