import { NO_BUYING_POWER, NO_REASON, NO_RISK, REJECTED, TOO_SMALL, UNUSABLE } from "./order_columns.ts";
import { feeOf } from "./rules/fees.ts";
import { freeMargin } from "./rules/margin.ts";
import { sizeUnits } from "./rules/sizing.ts";
import { slippedSizingPrice } from "./rules/slippage.ts";
import { spreadPrice } from "./rules/spread.ts";
import type { Simulation } from "./simulation.ts";
import { BY_CASH, BY_RISK_FRACTION, BY_UNITS } from "./strategy.ts";
import type { WorkingOrder } from "./working_order.ts";

/** Buying power is compared with this much room, relatively: a sum of decimals may be a rounding error too dear. */
const BUYING_POWER_ROOM = 1 + 1e-12;

/** Sizes an order that is about to be filled, with the account as it stands, unless it was sized before. */
export function sizeAtFill(sim: Simulation, order: WorkingOrder): void {
  if (!Number.isNaN(order.units)) return;
  const { ledger, execution, sizing } = sim;
  const mark = sizingMark(sim);
  sizing.equity = ledger.cash + ledger.quantity * mark;
  sizing.freeMargin = freeMargin(execution, sizing.equity, tiedUp(sim, order), mark);
  sizing.raw = sim.fill.raw;
  size(sim, order);
}

/**
 * Sizes an order at the close that decided it (sizingPrice `signal_close`): as if it were filled there, costs included,
 * after closing whatever it is going to close. Its buying power is checked there, and not again at the fill.
 *
 * @returns Whether it can wait; false when it was refused.
 */
export function sizeAtSignal(sim: Simulation, order: WorkingOrder): boolean {
  const { ledger, execution, sizing } = sim;
  const close = sim.candles.close[sim.index]!;
  const equity = ledger.cash + ledger.quantity * close;
  const isOpposite = execution.exclusive === "opposite" && ledger.side === -order.side;
  const closesAll = execution.exclusive === "any" || isOpposite;
  sizing.equity = equity;
  sizing.freeMargin = freeMargin(execution, equity, closesAll ? 0 : tiedUp(sim, order), close);
  sizing.raw = close;
  size(sim, order);
  const fits = isSizedToFit(sim, order) || opensWhatFits(sim, order, closesAll);
  const refusal = refusalOf(order.units);
  if (refusal === NO_REASON && fits) return true;
  sim.book.end(order, REJECTED, refusal === NO_REASON ? NO_BUYING_POWER : refusal);
  return false;
}

/** Why no order can be filled with so many units; NO_REASON where one can. Infinity: more lots than numbers can count. */
export function refusalOf(units: number): number {
  if (Number.isNaN(units)) return NO_RISK;
  if (units === Infinity) return UNUSABLE;
  return units > 0 ? NO_REASON : TOO_SMALL;
}

/**
 * Units, signed, whose margin an order cannot use: those that stay open. What it nets does not; the library alone counts
 * that among what is bound (fractionOf `free_margin`).
 */
function tiedUp({ ledger, execution }: Simulation, order: WorkingOrder): number {
  const nets = ledger.side === -order.side && execution.fractionOf === "equity";
  return order.reduces || nets ? 0 : ledger.quantity;
}

/** Whether what an order opens beyond what it nets fits into the buying power at its signal's close. */
function opensWhatFits(sim: Simulation, { side, units }: WorkingOrder, closesAll: boolean): boolean {
  const { ledger, sizing } = sim;
  const nets = !closesAll && ledger.side === -side;
  if (!nets) return fitsInto(sim, units, sizing.price, sizing.freeMargin);
  const opened = units - Math.abs(ledger.quantity);
  return opened <= 0 || fitsInto(sim, opened, sizing.price, Math.max(0, sizing.equity));
}

/** Sizes an order in an account and at a market's price that `sim.sizing` holds. */
function size(sim: Simulation, order: WorkingOrder): void {
  const { execution, sizing } = sim;
  const slipped = order.slips ? slippedSizingPrice(execution.slippage, sizing.raw, order.side) : sizing.raw;
  sizing.price = spreadPrice(execution, slipped, order.side, true);
  sizing.reduces = order.reduces;
  sizing.sizeBy = order.sizeBy;
  sizing.size = order.size;
  sizing.riskPerUnit = order.sizeBy === BY_RISK_FRACTION ? riskPerUnit(order, sizing.price) : NaN;
  order.units = sizeUnits(execution, sim.lots, sizing);
  // Who names units may name too many; a size that is worked out is one that there is.
  if (order.reduces && order.sizeBy !== BY_UNITS) {
    order.units = Math.min(order.units, Math.abs(sim.ledger.quantity));
  }
  order.sizedAt = sim.index;
  if (order.units < Infinity) sim.orders.size(order);
}

/** Distance from the entry price to the order's stop loss, or else to its trailing stop; NaN without one that loses. */
function riskPerUnit(order: WorkingOrder, price: number): number {
  const distance = order.side * (price - order.stopLoss);
  if (!Number.isNaN(distance)) return distance > 0 ? distance : NaN;
  return [price * order.stopLossFraction, order.trailDistance, price * order.trailFraction].find((one) => one > 0) ??
    NaN;
}

/**
 * Whether value and fee of an order that is about to be filled fit into the buying power that is left. One that was sized
 * to fit is not asked again in the same candle; what its volume left over meets other prices.
 */
export function isAffordableNow(sim: Simulation, order: WorkingOrder): boolean {
  if (isSizedToFit(sim, order)) return true;
  const { ledger, execution, fill } = sim;
  const mark = sizingMark(sim);
  const free = freeMargin(execution, ledger.cash + ledger.quantity * mark, ledger.quantity, mark);
  return fitsInto(sim, fill.units, fill.price, free);
}

/** The price at which what is open is valued when an order is filled. */
function sizingMark({ execution, candles, fill }: Simulation): number {
  return execution.sizingMark === "close" ? candles.close[fill.index]! : fill.raw;
}

function isSizedToFit(sim: Simulation, order: WorkingOrder): boolean {
  return order.sizedAt === sim.index && order.sizeBy !== BY_UNITS && order.sizeBy !== BY_CASH;
}

function fitsInto(sim: Simulation, units: number, price: number, free: number): boolean {
  const cost = units * price + feeOf(sim.execution.commission, units, price);
  return cost <= free * sim.execution.leverage * BUYING_POWER_ROOM;
}
