import { MARKET, STOP } from "../../../engine/strategy.ts";
import { feeOf, fillPrice, takeVolume } from "./costs.ts";
import { excursions } from "./excursions.ts";
import { allowedLots, type Closed, type Meeting } from "./fills.ts";
import { type Order, type OwnExit, type State, type Trade, unitsOf } from "./state.ts";

/** Adds to the youngest trade if the same order opened it, else opens one with the order's guards. */
export function openTrade(state: State, order: Order, at: Meeting, lots: number, price: number, fee: number): void {
  const youngest = state.trades.at(-1);
  if (youngest?.order === order) {
    const before = unitsOf(state, youngest.lots);
    const added = unitsOf(state, lots);
    youngest.entryPrice = (before * youngest.entryPrice + added * price) / (before + added);
    youngest.lots += lots;
    youngest.fees += fee;
    return;
  }
  const { draft, side } = order;
  const trade: Trade = {
    number: state.tradesOpened++,
    order,
    side,
    lots,
    entryIndex: state.index,
    reached: at.reached,
    enteredIn: at.inside,
    entryBarExits: entryBarExits(state, order),
    entryLevel: at.level,
    entryPrice: price,
    fees: fee,
    financing: 0,
    stopLoss: guard(draft.stopLoss, draft.stopLossFraction, price, -side),
    takeProfit: guard(draft.takeProfit, draft.takeProfitFraction, price, side),
    trailDistance: draft.trailDistance,
    trailFraction: draft.trailFraction,
    trailBest: NaN,
    trailStop: NaN,
    timeStopAt: draft.timeStopCandles > 0 ? firstCandle(state, at) + draft.timeStopCandles : Infinity,
    exiting: null,
    isAmbiguous: false,
  };
  moveTrailingStop(trade, price);
  state.trades.push(trade);
}

/** The first candle in which a trade is held: the next one after an entry at a close. */
function firstCandle(state: State, at: Meeting): number {
  return at.reached === "close" ? state.index + 1 : state.index;
}

function guard(price: number, fraction: number, entryPrice: number, direction: number): number {
  if (!Number.isNaN(price)) return price;
  return fraction > 0 ? entryPrice * (1 + direction * fraction) : NaN;
}

function entryBarExits(state: State, order: Order): Trade["entryBarExits"] {
  const { entryCandleExit } = state.execution;
  if (entryCandleExit === true) return "both";
  if (entryCandleExit === false) return "none";
  if (order.draft.type === MARKET) return "both";
  return order.draft.type === STOP ? "target" : "none";
}

/** Moves a trailing stop after a new best price. It never moves back. */
export function moveTrailingStop(trade: Trade, price: number): void {
  const { side, trailDistance, trailFraction } = trade;
  if (!(trailDistance > 0) && !(trailFraction > 0)) return;
  if (side * price <= side * trade.trailBest) return;
  trade.trailBest = price;
  const stop = price - side * (trailDistance > 0 ? trailDistance : price * trailFraction);
  if (Number.isNaN(trade.trailStop) || side * stop > side * trade.trailStop) trade.trailStop = stop;
}

/** The stop that counts: the tighter of stop loss and trailing stop. */
export function stopOf(trade: Trade): { price: number; reason: "stop_loss" | "trailing_stop" } {
  const { side, stopLoss, trailStop } = trade;
  const isTrailing = Number.isNaN(stopLoss) || side * trailStop > side * stopLoss;
  if (isTrailing && !Number.isNaN(trailStop)) return { price: trailStop, reason: "trailing_stop" };
  return { price: stopLoss, reason: "stop_loss" };
}

/** Closes lots of one trade, as far as volume allows. */
export function closeTrade(
  state: State,
  trade: Trade,
  lots: number,
  at: Meeting,
  slipping: boolean,
  by: Order | OwnExit,
): Closed {
  const closing = slipping ? allowedLots(state, lots) : lots;
  if (closing === 0) return { lots: 0, units: 0, value: 0 };
  const units = unitsOf(state, closing);
  if (slipping) takeVolume(state, units);
  const price = fillPrice(state, at.level, trade.side === 1 ? -1 : 1, units, false, slipping);
  const fee = feeOf(state, units, price);
  state.cash += trade.side * units * price - fee;
  state.feesPaid += fee;
  state.tradedValue += units * price;
  recordRow(state, trade, closing, price, fee, at, by);
  if (closing === trade.lots) state.trades = state.trades.filter((other) => other !== trade);
  else {
    const kept = 1 - closing / trade.lots;
    trade.lots -= closing;
    trade.fees *= kept;
    trade.financing *= kept;
  }
  return { lots: closing, units, value: units * price };
}

/** Lists a trade, or the part of it that has ended, with its share of entry fees and financing. */
export function recordRow(
  state: State,
  trade: Trade,
  lots: number,
  price: number,
  fee: number,
  at: { readonly reached: Meeting["reached"] },
  by: Order | OwnExit | null,
): void {
  const order = typeof by === "object" ? by : null;
  const reason = typeof by === "string" ? by : order === null ? null : "signal";
  const quantity = unitsOf(state, lots);
  const share = lots / trade.lots;
  const fees = trade.fees * share + fee;
  state.closed.push({
    number: trade.number,
    side: trade.side,
    quantity,
    entryIndex: trade.entryIndex,
    entryPrice: trade.entryPrice,
    exitIndex: state.index,
    exitPrice: reason === null ? NaN : price,
    fees,
    pnl: trade.side * quantity * (price - trade.entryPrice) - fees + trade.financing * share,
    ...excursions(state, trade, at.reached, price),
    exitReason: reason,
    isAmbiguous: trade.isAmbiguous,
    entryOrder: state.orders.indexOf(trade.order),
    exitOrder: order === null ? -1 : state.orders.indexOf(order),
    tag: trade.order.draft.tag,
    exitTag: order?.draft.tag ?? null,
  });
}
