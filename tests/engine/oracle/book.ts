import { WORKING_ORDERS_MAX } from "../../../engine/book.ts";
import type { OrderReason } from "../../../engine/order_columns.ts";
import {
  BY_DEFAULT,
  BY_EQUITY_FRACTION,
  BY_UNITS,
  LIMIT,
  MARKET,
  newDraft,
  ORDER_TYPES,
  type OrderBook,
  type OrderDraft,
  REFUSED,
  STOP,
  STOP_LIMIT,
} from "../../../engine/strategy.ts";
import { endOrder, withdrawOpposite } from "./fills.ts";
import { sizeAtSignal } from "./sizing.ts";
import { type Order, positionSide, type State, unitsOf } from "./state.ts";

/** The strategy's access to orders in the slow simulation. */
export function bookOf(state: State): OrderBook {
  const find = (number: number) => state.working.find((order) => order.number === number);
  const trade = (number: number) => state.trades.find((one) => one.number === number);
  const cancel = (number: number) => {
    const order = find(number);
    if (order !== undefined) endOrder(state, order, "cancelled", "withdrawn by the strategy");
    return order !== undefined;
  };
  let revision = 0;
  return {
    /** Another one at each look: this book does not know what has changed. */
    get revision() {
      return revision++;
    },
    get workingOrders() {
      return state.working.length;
    },
    get openTrades() {
      return state.trades.length;
    },
    place: (draft) => place(state, draft, null),
    close: (fraction, tag) => close(state, "all", fraction, tag),
    closeTrade: (number, fraction, tag) => close(state, number, fraction, tag),
    cancel,
    cancelAll() {
      for (const order of [...state.working]) cancel(order.number);
    },
    replace: (number, draft) => cancel(number) ? place(state, draft, null) : REFUSED,
    isWorking: (number) => find(number) !== undefined,
    tradeAt: (n) => state.trades[n]?.number ?? NaN,
    isOpen: (number) => trade(number) !== undefined,
    tradeQuantity(number) {
      const found = trade(number);
      return found === undefined ? 0 : found.side * unitsOf(state, found.lots);
    },
    tradeEntryPrice: (number) => trade(number)?.entryPrice ?? NaN,
    protect(number, stopLoss, takeProfit) {
      const found = trade(number);
      if (found === undefined) return false;
      if (stopLoss !== null) found.stopLoss = stopLoss;
      if (takeProfit !== null) found.takeProfit = takeProfit;
      return true;
    },
    // The strategies that run here read neither.
    watchFills: () => [],
    describeTrade: () => null,
  };
}

function close(state: State, closes: "all" | number, fraction: number, tag: string | null): number {
  // Closing nothing is no order.
  if (state.trades.length === 0) return REFUSED;
  const draft = { ...newDraft(), reduceOnly: true, sizeBy: BY_EQUITY_FRACTION, tag };
  return place(state, { ...draft, side: -positionSide(state), size: Math.min(fraction, 1) }, closes);
}

function place(state: State, draft: OrderDraft, closes: Order["closes"]): number {
  const { execution, index } = state;
  const refusal = refusalOf(state, draft);
  if (refusal !== null) {
    const order = newOrder(state, draft, closes, false);
    order.status = "rejected";
    order.reason = refusal;
    return REFUSED;
  }
  const reduces = draft.reduceOnly || (draft.side < 0 && !execution.allowShort);
  if (execution.exclusive === "any" && !reduces) {
    for (const other of [...state.working]) endOrder(state, other, "cancelled", "replaced by a newer entry");
    if (state.trades.length > 0) close(state, "all", 1, null);
  }
  const order = newOrder(state, draft, closes, reduces);
  // A market order may be filled at the close that decided it, any other from the next candle on.
  order.from = draft.type === MARKET && execution.fill === "close" ? index : index + 1;
  if (draft.candlesMax > 0 && draft.type !== MARKET) order.until = index + draft.candlesMax;
  state.working.push(order);
  if (execution.sizingPrice === "signal_close" && !reduces) sizeNow(state, order);
  if (order.status === "working" && order.waitsAs === "market") withdrawOpposite(state, order);
  return order.status === "working" ? order.number : REFUSED;
}

function sizeNow(state: State, order: Order): void {
  const { exclusive } = state.execution;
  const closesAll = exclusive === "any" || (exclusive === "opposite" && positionSide(state) === -order.side);
  const { fits } = sizeAtSignal(state, order, closesAll);
  const lots = order.lotsLeft ?? NaN;
  if (Number.isNaN(lots)) {
    endOrder(state, order, "rejected", "risk sizing needs a stop loss on the losing side of the price");
  } else if (lots < 1) endOrder(state, order, "rejected", "smaller than one lot");
  else if (!fits) endOrder(state, order, "rejected", "not enough buying power");
}

function newOrder(state: State, draft: OrderDraft, closes: Order["closes"], reduces: boolean): Order {
  const order: Order = {
    number: state.orders.length,
    placedAt: state.index,
    draft: { ...draft },
    side: draft.side < 0 ? -1 : 1,
    waitsAs: ORDER_TYPES[draft.type] ?? "market",
    reduces,
    isHeldBack: false,
    closes,
    from: NaN,
    until: Infinity,
    lotsLeft: null,
    sizedAt: null,
    quantity: draft.sizeBy === BY_UNITS ? draft.size : NaN,
    filledUnits: 0,
    filledValue: 0,
    filledAt: null,
    status: "working",
    reason: "",
  };
  state.orders.push(order);
  return order;
}

/** Why an order cannot work at all; null when it can. */
function refusalOf(state: State, draft: OrderDraft): OrderReason | null {
  const isPrice = (price: number) => price > 0 && price < Infinity;
  const needsLimit = draft.type === LIMIT || draft.type === STOP_LIMIT;
  const needsStop = draft.type === STOP || draft.type === STOP_LIMIT;
  const isFlat = positionSide(state) === 0;
  const unusable = "the order's prices or size are not usable";
  if (draft.type === MARKET && draft.reduceOnly && isFlat) return "nothing to close";
  if (draft.side !== 1 && draft.side !== -1) return unusable;
  if (draft.sizeBy !== BY_DEFAULT && !isPrice(draft.size)) return unusable;
  if (ORDER_TYPES[draft.type] === undefined) return unusable;
  if (needsLimit && !isPrice(draft.limitPrice)) return "a limit order needs a limit price above 0";
  if (needsStop && !isPrice(draft.stopPrice)) return "a stop order needs a stop price above 0";
  if (draft.type === MARKET && draft.side === -1 && isFlat && !state.execution.allowShort) {
    return "short selling is not allowed";
  }
  return state.working.length >= WORKING_ORDERS_MAX ? "too many working orders" : null;
}
