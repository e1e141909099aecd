import type { Account, OrderBook } from "../../../engine/strategy.ts";
import { EXIT_REASONS } from "../../../engine/trade_columns.ts";
import type { FillRecord, TradeDetails } from "../../../engine/trade_watch.ts";
import type { RemoteTask } from "../../common/remote_task.ts";
import { candleMs } from "../candle_series.ts";
import type { ActionPlayer } from "./actions.ts";
import { PROTOCOL_VERSION } from "./answer.ts";
import { writeInputs } from "./request_inputs.ts";
import type { Stretch } from "./stretch.ts";

/** The orders and trades of a market, as a request shows them. */
export interface MarketState {
  readonly book: OrderBook;
  readonly player: ActionPlayer;
  /** The deciding candle. */
  readonly i: number;
  /** The first candle of the range: 0 on the wire. */
  readonly firstIndex: number;
}

/** The state that a step request has besides the candles. */
export interface StepState extends MarketState {
  readonly account: Account;
}

/** Fills in a request: the rest comes with the next one. */
const FILLS_MAX = 1000;

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

function writeState({ account, ...market }: StepState): Readonly<Record<string, unknown>> {
  return {
    account: {
      cash: account.cash,
      equity: account.equity,
      quantity: account.quantity,
      entry_price: Number.isNaN(account.entryPrice) ? null : account.entryPrice,
    },
    ...writeMarket(market),
  };
}

/** The open trades, the working orders and the newest fills of a market. */
export function writeMarket({ book, player, i, firstIndex }: MarketState): Readonly<Record<string, unknown>> {
  const fills = book.watchFills().splice(0, FILLS_MAX);
  const trades = Array.from({ length: book.openTrades }, (_, n) => book.tradeAt(n));
  const known = trades.map((trade) => [trade, book.describeTrade(trade, i)] as const);
  const orders = known.flatMap(([, details]) => details === null ? [] : [details.order]);
  const written = {
    open_trades: known.map(([trade, details]) => ({
      trade,
      quantity: book.tradeQuantity(trade),
      entry_price: book.tradeEntryPrice(trade),
      ...(details === null ? {} : writeDetails(details, player, firstIndex)),
    })),
    fills: fills.map((fill) => writeFill(fill, player, firstIndex)),
  };
  return { ...written, working_orders: player.workingIds(book, orders) };
}

function writeDetails(details: TradeDetails, player: ActionPlayer, firstIndex: number) {
  return {
    order: player.idOf(details.order),
    tag: details.tag,
    entry_index: details.entryIndex - firstIndex,
    entry_time: details.entryTime,
    stop_loss: orNull(details.stopLoss),
    take_profit: orNull(details.takeProfit),
    trailing_stop: orNull(details.trailingStop),
    profit: details.profit,
    best_price: details.bestPrice,
    worst_price: details.worstPrice,
  };
}

function writeFill({ closed, ...fill }: FillRecord, player: ActionPlayer, firstIndex: number) {
  return {
    order: player.idOf(fill.order),
    trade: fill.trade,
    side: fill.side > 0 ? "buy" : "sell",
    quantity: fill.quantity,
    price: fill.price,
    fee: fill.fee,
    index: fill.index - firstIndex,
    time: fill.time,
    tag: closed === null ? fill.tag : closed.tag,
    exit_reason: EXIT_REASONS[fill.reason] ?? null,
    closed: closed === null ? null : {
      order: player.idOf(closed.order),
      entry_index: closed.entryIndex - firstIndex,
      entry_time: closed.entryTime,
      entry_price: closed.entryPrice,
      profit: closed.profit,
      fees: closed.fees,
      best_price: closed.bestPrice,
      worst_price: closed.worstPrice,
    },
  };
}

function orNull(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
