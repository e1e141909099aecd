import * as book from "./book.ts";
import { NO_BUYING_POWER, NO_REASON, NO_RISK, REJECTED, TOO_SMALL } from "./orders.ts";
import { slips } from "./fill_price.ts";
import { feeOf } from "./rules/fees.ts";
import { freeMargin } from "./rules/margin.ts";
import { sizeUnits, type SizingAccount } from "./rules/sizing.ts";
import { slippedSizingPrice } from "./rules/slippage.ts";
import { spreadPrice } from "./rules/spread.ts";
import type { Simulation } from "./simulation.ts";
import { BY_CASH, BY_RISK_FRACTION, BY_UNITS } from "./strategy.ts";

/** Buying power is compared with this much room, relatively: a sum of decimals may be a rounding error too dear. */
const BUYING_POWER_ROOM = 1 + 1e-12;

/** Units that are still to be filled: sized now, with the account as it stands, when they were not before. */
export function sizeAtFill(sim: Simulation, row: number, i: number, raw: number): number {
  const sized = sim.book.get(row, book.UNITS);
  if (!Number.isNaN(sized)) return sized;
  const { ledger, execution } = sim;
  const mark = execution.sizingMark === "close" ? sim.candles.close[i]! : raw;
  const equity = ledger.cash + ledger.quantity * mark;
  sim.sizing.equity = equity;
  sim.sizing.freeMargin = freeMargin(execution, equity, ledger.quantity, mark);
  return noteUnits(sim, row, unitsAt(sim, row, raw, sim.sizing));
}

/**
 * Sizes an order at the close that decided it (sizingPrice `signal_close`): as if it were filled there, costs included,
 * after closing whatever it is going to close. Its buying power is checked there, and not again at the fill.
 *
 * @returns Whether it can wait; false when it was refused.
 */
export function sizeAtSignal(sim: Simulation, row: number): boolean {
  const { ledger, execution } = sim;
  const close = sim.candles.close[sim.index]!;
  const side = sim.book.get(row, book.SIDE);
  const equity = ledger.cash + ledger.quantity * close;
  const closesAll = execution.exclusive === "any" || (execution.exclusive === "opposite" && ledger.side === -side);
  sim.sizing.equity = equity;
  sim.sizing.freeMargin = closesAll ? Math.max(0, equity) : freeMargin(execution, equity, ledger.quantity, close);
  const units = noteUnits(sim, row, unitsAt(sim, row, close, sim.sizing));
  const price = sizingPrice(sim, row, close);
  let reason = Number.isNaN(units) ? NO_RISK : units === 0 ? TOO_SMALL : NO_REASON;
  if (reason === NO_REASON && !isAffordable(sim, row, units, price, sim.sizing.freeMargin)) reason = NO_BUYING_POWER;
  if (reason === NO_REASON) return true;
  sim.book.end(row, REJECTED, reason);
  return false;
}

function noteUnits(sim: Simulation, row: number, units: number): number {
  sim.book.set(row, book.UNITS, units);
  sim.book.set(row, book.SIZED_AT, sim.index);
  sim.orders.size(sim.book.get(row, book.NUMBER), units);
  return units;
}

function sizingPrice(sim: Simulation, row: number, raw: number): number {
  const side = sim.book.get(row, book.SIDE);
  const slipped = slips(sim, row) ? slippedSizingPrice(sim.execution.slippage, raw, side) : raw;
  return spreadPrice(sim.execution, slipped, side, true);
}

function unitsAt(sim: Simulation, row: number, raw: number, account: SizingAccount): number {
  const orders = sim.book;
  const price = sizingPrice(sim, row, raw);
  const sizeBy = orders.get(row, book.SIZE_BY);
  const risk = sizeBy === BY_RISK_FRACTION ? riskPerUnit(sim, row, price) : NaN;
  return sizeUnits(sim.execution, account, sizeBy, orders.get(row, book.SIZE), price, raw, risk);
}

/** Distance from the entry price to the order's stop loss, or else to its trailing stop; NaN without one that loses. */
function riskPerUnit(sim: Simulation, row: number, price: number): number {
  const orders = sim.book;
  const side = orders.get(row, book.SIDE);
  const candidates = [
    side * (price - orders.get(row, book.STOP_LOSS)),
    price * orders.get(row, book.STOP_LOSS_FRACTION),
    orders.get(row, book.TRAIL_DISTANCE),
    price * orders.get(row, book.TRAIL_FRACTION),
  ];
  const distance = candidates.find((value) => !Number.isNaN(value)) ?? NaN;
  return distance > 0 ? distance : NaN;
}

/** Whether an order that is about to be filled fits into the buying power that is left. */
export function isAffordableNow(
  sim: Simulation,
  row: number,
  i: number,
  raw: number,
  units: number,
  price: number,
): boolean {
  const { ledger, execution } = sim;
  const mark = execution.sizingMark === "close" ? sim.candles.close[i]! : raw;
  const free = freeMargin(execution, ledger.cash + ledger.quantity * mark, ledger.quantity, mark);
  return isAffordable(sim, row, units, price, free);
}

/**
 * Whether value and fee fit into the buying power. Orders that were sized to fit are not asked again in the same candle;
 * what its volume left over meets other prices.
 */
function isAffordable(sim: Simulation, row: number, units: number, price: number, free: number): boolean {
  const sizeBy = sim.book.get(row, book.SIZE_BY);
  const isToFit = sizeBy !== BY_UNITS && sizeBy !== BY_CASH;
  if (isToFit && sim.book.get(row, book.SIZED_AT) === sim.index) return true;
  const cost = units * price + feeOf(sim.execution.commission, units, price);
  return cost <= free * sim.execution.leverage * BUYING_POWER_ROOM;
}
