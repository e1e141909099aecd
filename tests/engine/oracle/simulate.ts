import type { RunInput } from "../../../engine/run.ts";
import { bookOf } from "./book.ts";
import { financingOf, interestOf } from "./costs.ts";
import { endOrder, fillOrder } from "./fills.ts";
import { walkCandle } from "./path.ts";
import { closeAll } from "./margin.ts";
import { equityAt, position, type State, unitsOf } from "./state.ts";
import { closeTrade, recordRow } from "./trades.ts";

/** The end of a slow simulation: its last state, and the marks at each close. */
export interface SlowResult {
  readonly state: State;
  readonly equity: number[];
  readonly position: number[];
}

/**
 * A second simulator: slow and simple, one step after the other as the rules are stated. It looks at every candle and every
 * order, counts in whole lots, and keeps plain objects.
 *
 * @param replays Whether candles are replayed on finer ones, where there are some.
 */
export function simulateSlowly(
  input: RunInput,
  replays: boolean = input.execution.bothTouched === "magnify",
): SlowResult {
  const { candles: { close }, firstIndex, strategy } = input;
  const state = newState(input, replays);
  const book = bookOf(state);
  const equity: number[] = [];
  const positions: number[] = [];
  strategy.prepare(input.candles);
  for (let i = firstIndex; i < close.length; i++) {
    state.index = i;
    if (!state.isRuined) liveThrough(state, i);
    if (!state.isRuined && equityAt(state, close[i]!) <= 0) ruin(state);
    if (!state.isRuined && i >= strategy.warmup - 1) {
      strategy.decide(i, accountOf(state), book);
      if (state.execution.fill === "close") fillMarketOrders(state, "close", close[i]!);
      if (equityAt(state, close[i]!) <= 0) ruin(state);
    }
    equity.push(equityAt(state, close[i]!));
    positions.push(position(state));
  }
  closeAtEnd(state);
  equity[equity.length - 1] = equityAt(state, close[close.length - 1]!);
  positions[positions.length - 1] = position(state);
  for (const trade of state.trades) {
    recordRow(state, trade, trade.lots, close[close.length - 1]!, 0, { reached: "close" }, null);
  }
  for (const order of state.working) order.reason = "the run ended";
  return { state, equity, position: positions };
}

function newState(input: RunInput, replays: boolean): State {
  const { candles, finer, timeframeMs, execution, initialBalance } = input;
  return {
    candles,
    finer: replays ? finer ?? null : null,
    timeframeMs,
    execution,
    initialBalance,
    firstIndex: input.firstIndex,
    index: 0,
    cash: initialBalance,
    orders: [],
    working: [],
    trades: [],
    tradesOpened: 0,
    closed: [],
    feesPaid: 0,
    tradedValue: 0,
    interest: 0,
    lossBeyond: 0,
    volumeTaken: 0,
    volumeIndex: -1,
    isForced: false,
    isRuined: false,
    unreplayedCandles: 0,
  };
}

/** One candle, from its open to just before the decision at its close. */
function liveThrough(state: State, i: number): void {
  const { candles: { open } } = state;
  if (i > state.firstIndex) payFinancing(state);
  for (const trade of [...state.trades]) {
    const reason = trade.exiting ?? (trade.timeStopAt <= i ? "time_stop" : null);
    if (reason !== null) {
      closeTrade(state, trade, trade.lots, { level: open[i]!, reached: "open", inside: null }, true, reason);
    }
  }
  fillMarketOrders(state, "open", open[i]!);
  walkCandle(state, i);
  for (const order of [...state.working]) {
    if (order.until <= i) endOrder(state, order, "expired", "its candles are over");
  }
}

function payFinancing(state: State): void {
  const { paid, earned } = interestOf(state);
  const lots = state.trades.reduce((sum, trade) => sum + trade.lots, 0);
  for (const trade of state.trades) {
    const money = financingOf(state, trade.side, unitsOf(state, trade.lots)) - paid * trade.lots / lots;
    state.cash += money;
    trade.financing += money;
  }
  state.cash += earned;
  state.interest += earned;
}

/** Fills market orders in order of placement. */
function fillMarketOrders(state: State, reached: "open" | "close", price: number): void {
  for (const order of [...state.working]) {
    if (order.waitsAs !== "market" || order.from > state.index || order.status !== "working") continue;
    fillOrder(state, order, { level: price, reached, inside: null });
  }
}

/** Ends the run at 0: closes everything, and credits the loss beyond the account to the trades that are closed here. */
function ruin(state: State): void {
  const before = state.closed.length;
  closeAll(state, "close", state.candles.close[state.index]!, "margin_call");
  const rows = state.closed.slice(state.closed.length > before ? before : -1);
  const quantity = rows.reduce((sum, row) => sum + row.quantity, 0);
  for (const row of rows) row.pnl -= state.cash * row.quantity / quantity;
  state.lossBeyond = -state.cash;
  state.cash = 0;
  state.isRuined = true;
}

function closeAtEnd(state: State): void {
  const { candles: { open, close }, execution, index } = state;
  if (execution.closeAtEnd === "last_open") {
    const sawOpen = state.trades.filter((trade) => trade.entryIndex < index || trade.reached === "open");
    closeAll(state, "open", open[index]!, "end_of_data", sawOpen);
  }
  if (execution.closeAtEnd !== "none") closeAll(state, "close", close[index]!, "end_of_data");
  if (equityAt(state, close[index]!) <= 0 && !state.isRuined) ruin(state);
}

function accountOf(state: State) {
  const units = state.trades.map((trade) => unitsOf(state, trade.lots));
  const cost = state.trades.reduce((sum, trade, k) => sum + units[k]! * trade.entryPrice, 0);
  return {
    cash: state.cash,
    equity: equityAt(state, state.candles.close[state.index]!),
    quantity: position(state),
    entryPrice: state.trades.length === 0 ? NaN : cost / units.reduce((sum, one) => sum + one, 0),
    initialBalance: state.initialBalance,
  };
}
