import { FILLED, NO_REASON, NO_RISK, NOTHING_TO_CLOSE, REJECTED, TOO_SMALL } from "./order_columns.ts";
import { postpone, setPrice, takeVolume } from "./fill_price.ts";
import type { OpenTrade } from "./open_trades.ts";
import { sizeAtFill } from "./order_sizing.ts";
import type { Simulation } from "./simulation.ts";
import { BY_DEFAULT, BY_UNITS } from "./strategy.ts";
import { ALL_TRADES, ANY_TRADES, type WorkingOrder } from "./working_order.ts";

/** Index of "signal" in EXIT_REASONS. */
export const SIGNAL = 0;

/**
 * Fills an order that may only make the position smaller: whole trades or a fraction of each (book.close), a fraction of
 * one, or units off the oldest trades. A part that is smaller than a lot is left alone.
 */
export function fillReducing(sim: Simulation, order: WorkingOrder): void {
  const { book, ledger, lots, fill } = sim;
  if (ledger.side !== -order.side) return book.end(order, REJECTED, NOTHING_TO_CLOSE);
  const { closes, size: fraction } = order;
  sim.exitedUnits = 0;
  sim.exitedValue = 0;
  let done = true;
  if (closes >= 0) {
    const trade = ledger.open.find(closes);
    if (trade === null) return book.end(order, REJECTED, NOTHING_TO_CLOSE);
    const wanted = Number.isNaN(order.units) ? portion(sim, trade, fraction) : Math.min(order.units, trade.quantity);
    exitTrade(sim, trade, wanted, SIGNAL);
    const left = lots.minus(wanted, fill.units);
    done = left === 0;
    if (fraction < 1) order.units = left;
  } else if (closes === ALL_TRADES && fraction < 1) {
    const left = exitFractions(sim, fraction);
    done = left === 0;
    // What this candle's volume did not allow is taken off the oldest trades.
    order.closes = ANY_TRADES;
    order.sizeBy = BY_UNITS;
    order.units = lots.settle(left);
  } else {
    const whole = closes === ALL_TRADES || order.sizeBy === BY_DEFAULT;
    if (!whole) sizeAtFill(sim, order);
    const units = whole ? Infinity : order.units;
    if (!(units > 0)) return book.end(order, REJECTED, Number.isNaN(units) ? NO_RISK : TOO_SMALL);
    const left = exitOldest(sim, units, SIGNAL);
    done = left === 0;
    if (!whole) order.units = left;
  }
  const closed = lots.settle(sim.exitedUnits);
  if (closed === 0 && done) return book.end(order, REJECTED, TOO_SMALL);
  if (closed > 0) sim.orders.fill(order.number, fill.index, closed, sim.exitedValue / sim.exitedUnits);
  if (done) book.end(order, FILLED, NO_REASON);
  else postpone(sim, order);
}

/** Closes a fraction of each trade, oldest first, and returns the units that volume did not allow. */
function exitFractions(sim: Simulation, fraction: number): number {
  let left = 0;
  const { open } = sim.ledger;
  for (let row = 0; row < open.count;) {
    const before = open.count;
    const trade = open.at(row);
    const wanted = portion(sim, trade, fraction);
    exitTrade(sim, trade, wanted, SIGNAL);
    left += wanted - sim.fill.units;
    if (open.count === before) row++;
  }
  return left;
}

/** Units that are this fraction of a trade, rounded down to lots; all of them from 1 (but for rounding) on. */
function portion(sim: Simulation, trade: OpenTrade, fraction: number): number {
  return fraction >= 1 ? trade.quantity : Math.min(trade.quantity, sim.lots.roundDown(trade.quantity * fraction));
}

/**
 * Closes up to this many units, oldest trades first, where the market stands (sim.fill).
 *
 * @returns Units that are left of what could have been closed: volume may have been short.
 */
export function exitOldest(sim: Simulation, units: number, reason: number): number {
  const { ledger, lots, fill } = sim;
  // All is all of every trade: subtracting them one after the other from their sum may leave dust.
  let left = lots.minus(Math.abs(ledger.quantity), units) === 0 ? Infinity : units;
  while (ledger.open.count > 0 && left > 0) {
    const oldest = ledger.open.at(0);
    const wanted = Math.min(left, oldest.quantity);
    exitTrade(sim, oldest, wanted, reason);
    if (left < Infinity) left = lots.minus(left, fill.units);
    if (fill.units < wanted) break;
  }
  return Math.min(left, Math.abs(ledger.quantity));
}

/** Closes all that is open at this price, whole whatever the volume. @param kind How the price was reached (open_trades.ts). */
export function exitAll(sim: Simulation, i: number, kind: number, price: number, reason: number): void {
  sim.ignoresVolume = true;
  sim.fill.at(i, kind, price, true);
  exitOldest(sim, Infinity, reason);
  sim.ignoresVolume = false;
}

/**
 * Closes units of one trade where the market stands (sim.fill); `fill.units` says how many: fewer, or none, where slippage
 * limits fills to a share of the candle's volume.
 *
 * @param reason Index into EXIT_REASONS.
 */
export function exitTrade(sim: Simulation, trade: OpenTrade, units: number, reason: number): void {
  const { ledger, fill } = sim;
  fill.units = fill.slips ? takeVolume(sim, units) : units;
  if (fill.units === 0) return;
  setPrice(sim, -ledger.side, false);
  ledger.exit(trade, fill, reason);
  sim.exitedUnits += fill.units;
  sim.exitedValue += fill.units * fill.price;
  sim.dirty = true;
}
