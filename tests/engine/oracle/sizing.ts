import {
  BY_CASH,
  BY_DEFAULT,
  BY_EQUITY_FRACTION,
  BY_RISK_FRACTION,
  BY_UNITS,
  SIZES_BY,
} from "../../../engine/strategy.ts";
import { feeOf, sizingPrice } from "./costs.ts";
import { equityAt, lotsIn, type Order, position, positionLots, positionSide, type State, unitsOf } from "./state.ts";

/** True if an order slips. Orders with a limit price do not. */
export function slips(order: Order): boolean {
  return order.waitsAs === "market" || order.waitsAs === "stop";
}

/** The unit of an order's size: its own, or the execution's default. */
function sizeOf(state: State, order: Order): { by: number; size: number } {
  const { sizing } = state.execution;
  if (order.draft.sizeBy !== BY_DEFAULT) return { by: order.draft.sizeBy, size: order.draft.size };
  return { by: SIZES_BY.indexOf(sizing.type), size: sizing.value };
}

/** Free equity, with open trades valued at `mark`. */
export function freeMargin(state: State, mark: number): number {
  return Math.max(0, equityAt(state, mark) - Math.abs(position(state)) * mark / state.execution.leverage);
}

/** The most lots whose value and fee fit into a budget, found by bisection. */
function affordableLots(state: State, budget: number, price: number): number {
  const fits = (lots: number) => {
    const units = unitsOf(state, lots);
    return units * price + feeOf(state, units, price) <= budget * (1 + 2 ** -50);
  };
  if (!(budget > 0) || !fits(1)) return 0;
  let most = 1;
  let tooMany = 2;
  while (fits(tooMany)) tooMany *= 2;
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (fits(middle)) most = middle;
    else tooMany = middle;
  }
  return most;
}

/** Money lost for each unit at the order's stop; NaN without a stop that loses. */
function riskPerUnit(order: Order, price: number): number {
  const { stopLoss, stopLossFraction, trailDistance, trailFraction } = order.draft;
  let distance = price * trailFraction;
  if (trailDistance > 0) distance = trailDistance;
  if (stopLossFraction > 0) distance = price * stopLossFraction;
  if (!Number.isNaN(stopLoss)) distance = order.side * (price - stopLoss);
  return distance > 0 ? distance : NaN;
}

/**
 * Lots of an order at a price of the market; NaN for risk sizing without a stop that loses.
 *
 * @param equity, free Equity and free equity of the account, after the trades that the order closes.
 */
function lotsFor(state: State, order: Order, level: number, equity: number, free: number): number {
  const { fractionOf, sizingFee, leverage, quantityStep } = state.execution;
  const { by, size } = sizeOf(state, order);
  const price = sizingPrice(state, level, order.side, slips(order));
  if (by === BY_UNITS) return lotsIn(state, size);
  if (by === BY_CASH) return affordableLots(state, size, price);
  if (by === BY_RISK_FRACTION) {
    const asked = lotsIn(state, size * Math.max(0, equity) / riskPerUnit(order, price));
    if (Number.isNaN(asked) || order.reduces) return asked;
    return Math.min(asked, affordableLots(state, free * leverage, price));
  }
  const fraction = fractionOf === "free_margin" && size === 1 ? 1 - 2 ** -52 : size;
  const budget = fractionOf === "free_margin"
    ? free * leverage * Math.min(1, fraction)
    : order.reduces
    ? equity * leverage * fraction
    : Math.min(equity * leverage * fraction, free * leverage);
  if (sizingFee === "order") return affordableLots(state, budget, price);
  const lotCost = price * quantityStep + feeOf(state, fraction * quantityStep, level) / fraction;
  return budget > 0 ? Math.round((budget - budget % lotCost) / lotCost) : 0;
}

/** Sizes an order that is about to be filled at `level`. */
export function sizeAtFill(state: State, order: Order, level: number): void {
  if (order.lotsLeft !== null) return;
  const mark = markFor(state, level);
  const equity = equityAt(state, mark);
  const free = order.reduces || setsFree(state, order) ? Math.max(0, equity) : freeMargin(state, mark);
  const lots = lotsFor(state, order, level, equity, free);
  const isAsked = sizeOf(state, order).by === BY_UNITS || !order.reduces;
  order.lotsLeft = isAsked ? lots : Math.min(lots, positionLots(state));
  order.quantity = unitsOf(state, order.lotsLeft);
  order.sizedAt = state.index;
}

/** Sizes an order at the close that decided it, as if the trades that it is going to close were closed. */
export function sizeAtSignal(state: State, order: Order, closesAll: boolean): { fits: boolean } {
  const close = state.candles.close[state.index]!;
  const equity = equityAt(state, close);
  const free = closesAll || setsFree(state, order) ? Math.max(0, equity) : freeMargin(state, close);
  order.lotsLeft = lotsFor(state, order, close, equity, free);
  order.quantity = unitsOf(state, order.lotsLeft);
  order.sizedAt = state.index;
  const price = sizingPrice(state, close, order.side, slips(order));
  if (isSizedToFit(state, order)) return { fits: true };
  // Netted units need no buying power; units that it opens then have all of it.
  const netted = !closesAll && positionSide(state) === -order.side ? positionLots(state) : 0;
  const opened = unitsOf(state, Math.max(0, order.lotsLeft - netted));
  if (netted > 0) return { fits: opened === 0 || isWithin(state, opened, price, Math.max(0, equity)) };
  return { fits: isWithin(state, order.quantity, price, free) };
}

/** True if an order nets open units and so frees their margin. The library does not count on that. */
function setsFree(state: State, order: Order): boolean {
  return positionSide(state) === -order.side && state.execution.fractionOf === "equity";
}

/**
 * True if the next fill fits into the buying power. An order that was sized to fit in this candle is not checked again.
 * Named units and money are, and so is the rest that an earlier candle's volume left.
 */
export function isAffordable(state: State, order: Order, level: number, units: number, price: number): boolean {
  if (isSizedToFit(state, order) && order.sizedAt === state.index) return true;
  return isWithin(state, units, price, freeMargin(state, markFor(state, level)));
}

function isSizedToFit(state: State, order: Order): boolean {
  const { by } = sizeOf(state, order);
  return by === BY_EQUITY_FRACTION || by === BY_RISK_FRACTION;
}

function isWithin(state: State, units: number, price: number, free: number): boolean {
  return units * price + feeOf(state, units, price) <= free * state.execution.leverage * (1 + 1e-12);
}

/** The price that values the open trades while an order is sized. */
function markFor(state: State, level: number): number {
  return state.execution.sizingMark === "close" ? state.candles.close[state.index]! : level;
}
