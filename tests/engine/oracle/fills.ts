import type { OrderReason } from "../../../engine/order_columns.ts";
import { BY_DEFAULT } from "../../../engine/strategy.ts";
import { feeOf, fillPrice, takeVolume, volumeLeft } from "./costs.ts";
import { isAffordable, sizeAtFill, slips } from "./sizing.ts";
import {
  type Bar,
  lotsIn,
  type Order,
  positionLots,
  positionSide,
  type Reached,
  type State,
  unitsOf,
} from "./state.ts";
import { closeTrade, openTrade } from "./trades.ts";

/** The place of a fill. */
export interface Meeting {
  /** The market's price, before spread and slippage. */
  readonly level: number;
  readonly reached: Reached;
  /** The bar inside which it happens; null: at the open before all else, or at a close. */
  readonly inside: Bar | null;
}

/** Removes an order from the working ones. */
export function endOrder(state: State, order: Order, status: Order["status"], reason: OrderReason): void {
  order.status = status;
  order.reason = reason;
  state.working = state.working.filter((other) => other !== order);
}

/** Fills an order; it ends, or goes on working for its unfilled rest. */
export function fillOrder(state: State, order: Order, at: Meeting): void {
  withdrawOpposite(state, order);
  if (order.reduces) return reduce(state, order, at);
  const opposite = positionSide(state) === -order.side;
  if (opposite && state.execution.exclusive === "opposite") {
    const { left } = closeOldest(state, positionLots(state), at, order);
    if (left > 0) return waitForVolume(state, order);
  }
  sizeAtFill(state, order, at.level);
  const lots = order.lotsLeft ?? NaN;
  if (Number.isNaN(lots)) {
    return endOrder(state, order, "rejected", "risk sizing needs a stop loss on the losing side of the price");
  }
  if (lots < 1) return endOrder(state, order, "rejected", "smaller than one lot");
  if (positionSide(state) === -order.side) {
    const { closed, left } = closeOldest(state, lots, at, order);
    noteFill(state, order, closed);
    order.lotsLeft = lots - closed.lots;
    if (order.lotsLeft === 0) return endOrder(state, order, "filled", "");
    if (left > 0) return waitForVolume(state, order);
  }
  enter(state, order, at);
}

/** Cancels the held-back entries of the other side (exclusive `opposite`). */
export function withdrawOpposite(state: State, order: Order): void {
  if (order.draft.reduceOnly || state.execution.exclusive !== "opposite") return;
  for (const other of [...state.working]) {
    if (!other.isHeldBack || other.draft.reduceOnly || other.side === order.side) continue;
    endOrder(state, other, "cancelled", "replaced by a newer entry");
  }
}

/** Opens a trade with the rest of an order, as far as volume and buying power allow. */
function enter(state: State, order: Order, at: Meeting): void {
  const wanted = order.lotsLeft ?? 0;
  const lots = slips(order) ? allowedLots(state, wanted) : wanted;
  if (lots === 0) return waitForVolume(state, order);
  const units = unitsOf(state, lots);
  if (slips(order)) takeVolume(state, units);
  const price = fillPrice(state, at.level, order.side, units, true, slips(order));
  if (state.execution.sizingPrice === "fill" && !isAffordable(state, order, at.level, units, price)) {
    return endOrder(state, order, "rejected", "not enough buying power");
  }
  const fee = feeOf(state, units, price);
  state.cash -= order.side * units * price + fee;
  state.feesPaid += fee;
  state.tradedValue += units * price;
  openTrade(state, order, at, lots, price, fee);
  noteFill(state, order, { lots, units, value: units * price });
  order.lotsLeft = wanted - lots;
  if (order.lotsLeft === 0) endOrder(state, order, "filled", "");
  else waitForVolume(state, order);
}

/** Fills an order that may only reduce the position. */
function reduce(state: State, order: Order, at: Meeting): void {
  if (positionSide(state) !== -order.side) {
    return endOrder(state, order, order.draft.reduceOnly ? "cancelled" : "rejected", "nothing to close");
  }
  if (order.lotsLeft === null && order.closes !== null && order.draft.size < 1) return closePart(state, order, at);
  let closed = NOTHING;
  let left = 0;
  if (typeof order.closes === "number") {
    const trade = state.trades.find((one) => one.number === order.closes);
    if (trade === undefined) {
      return endOrder(state, order, order.draft.reduceOnly ? "cancelled" : "rejected", "nothing to close");
    }
    const wanted = Math.min(order.lotsLeft ?? trade.lots, trade.lots);
    closed = closeTrade(state, trade, wanted, at, slips(order), order);
    left = wanted - closed.lots;
    // An order for all of a trade stays one for all, even while volume is short.
    if (order.lotsLeft !== null) order.lotsLeft = left;
  } else if (order.closes === "all" || order.draft.sizeBy === BY_DEFAULT) {
    ({ closed, left } = closeOldest(state, order.lotsLeft ?? positionLots(state), at, order));
    if (order.lotsLeft !== null) order.lotsLeft = left;
  } else {
    sizeAtFill(state, order, at.level);
    const lots = order.lotsLeft ?? NaN;
    if (Number.isNaN(lots)) {
      return endOrder(state, order, "rejected", "risk sizing needs a stop loss on the losing side of the price");
    }
    ({ closed, left } = closeOldest(state, Math.max(0, lots), at, order));
    // Its quantity is at most the position at its first fill.
    order.lotsLeft = left;
  }
  finishReducing(state, order, closed, left);
}

/** Closes a fraction of each open trade, or of one. Units that volume does not allow are closed at the next opens. */
function closePart(state: State, order: Order, at: Meeting): void {
  const trades = order.closes === "all"
    ? [...state.trades]
    : state.trades.filter((trade) => trade.number === order.closes);
  if (trades.length === 0) {
    return endOrder(state, order, order.draft.reduceOnly ? "cancelled" : "rejected", "nothing to close");
  }
  let closed = NOTHING;
  let left = 0;
  for (const trade of trades) {
    const wanted = lotsIn(state, unitsOf(state, trade.lots) * order.draft.size);
    const part = closeTrade(state, trade, wanted, at, slips(order), order);
    closed = add(closed, part);
    left += wanted - part.lots;
  }
  order.lotsLeft = left;
  finishReducing(state, order, closed, left);
}

function finishReducing(state: State, order: Order, closed: Closed, left: number): void {
  noteFill(state, order, closed);
  if (left > 0) return waitForVolume(state, order);
  if (closed.lots === 0) return endOrder(state, order, "rejected", "smaller than one lot");
  endOrder(state, order, "filled", "");
}

/** The units and value of an exit; `value` is units x price. */
export interface Closed {
  readonly lots: number;
  readonly units: number;
  readonly value: number;
}

const NOTHING: Closed = { lots: 0, units: 0, value: 0 };

function add(a: Closed, b: Closed): Closed {
  return { lots: a.lots + b.lots, units: a.units + b.units, value: a.value + b.value };
}

/** Closes up to this many lots, oldest trades first. Returns the lots that volume did not allow. */
function closeOldest(state: State, lots: number, at: Meeting, order: Order): { closed: Closed; left: number } {
  let closed = NOTHING;
  const wantedInAll = Math.min(lots, positionLots(state));
  for (const trade of [...state.trades]) {
    const wanted = Math.min(wantedInAll - closed.lots, trade.lots);
    if (wanted === 0) break;
    const part = closeTrade(state, trade, wanted, at, slips(order), order);
    closed = add(closed, part);
    if (part.lots < wanted) break;
  }
  return { closed, left: wantedInAll - closed.lots };
}

/** Keeps the unfilled rest for the next open, at market: a stop that was reached stays reached. */
function waitForVolume(state: State, order: Order): void {
  if (order.waitsAs === "stop") {
    order.waitsAs = "market";
    order.until = Infinity;
  }
  order.isHeldBack = true;
  order.from = state.index + 1;
}

function noteFill(state: State, order: Order, { lots, units, value }: Closed): void {
  if (lots === 0) return;
  order.filledUnits += units;
  order.filledValue += value;
  order.filledAt = state.index;
}

/** The wanted lots, as far as this candle's volume allows. */
export function allowedLots(state: State, wanted: number): number {
  const left = volumeLeft(state);
  return left === Infinity ? wanted : Math.min(wanted, Math.max(0, lotsIn(state, left)));
}
