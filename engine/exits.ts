import * as book from "./book.ts";
import { FILLED, NO_REASON, NO_RISK, NOTHING_TO_CLOSE, REJECTED, TOO_SMALL } from "./orders.ts";
import { fillPrice, postpone, slips, takeVolume } from "./fill_price.ts";
import * as open from "./open_trades.ts";
import { sizeAtFill } from "./order_sizing.ts";
import { feeOf } from "./rules/fees.ts";
import { lotsLeft, roundToLots } from "./rules/lots.ts";
import type { Simulation } from "./simulation.ts";
import { BY_DEFAULT, BY_UNITS } from "./strategy.ts";

/** Index of "signal" in EXIT_REASONS. */
export const SIGNAL = 0;

/**
 * Fills an order that may only make the position smaller: whole trades or a fraction of each (book.close), a fraction of
 * one, or units off the oldest trades. A part that is smaller than a lot is left alone.
 */
export function fillReducing(sim: Simulation, row: number, i: number, raw: number, kind: number): void {
  const { book: orders, ledger, execution } = sim;
  if (ledger.side !== -orders.get(row, book.SIDE)) return orders.end(row, REJECTED, NOTHING_TO_CLOSE);
  const order = orders.get(row, book.NUMBER);
  const slipping = slips(sim, row);
  sim.exitedUnits = 0;
  sim.exitedValue = 0;
  const closes = orders.get(row, book.CLOSES);
  const fraction = orders.get(row, book.SIZE);
  let done = true;
  if (closes >= 0) {
    const trade = ledger.open.find(closes);
    if (trade < 0) return orders.end(row, REJECTED, NOTHING_TO_CLOSE);
    const held = ledger.open.get(trade, open.QUANTITY);
    const begun = orders.get(row, book.UNITS);
    const wanted = Number.isNaN(begun) ? portion(sim, trade, fraction) : Math.min(begun, held);
    const left = lotsLeft(
      wanted - exitTrade(sim, trade, wanted, i, kind, raw, slipping, SIGNAL),
      execution.quantityStep,
    );
    done = left === 0;
    if (fraction < 1) orders.set(row, book.UNITS, left);
  } else if (closes === book.ALL_TRADES && fraction < 1) {
    const left = exitFractions(sim, fraction, i, kind, raw, slipping);
    done = left === 0;
    // What this candle's volume did not allow is taken off the oldest trades.
    orders.set(row, book.CLOSES, NaN);
    orders.set(row, book.SIZE_BY, BY_UNITS);
    orders.set(row, book.UNITS, lotsLeft(left, execution.quantityStep));
  } else {
    const whole = closes === book.ALL_TRADES || orders.get(row, book.SIZE_BY) === BY_DEFAULT;
    const units = whole ? Infinity : sizeAtFill(sim, row, i, raw);
    if (!(units > 0)) return orders.end(row, REJECTED, Number.isNaN(units) ? NO_RISK : TOO_SMALL);
    const left = exitOldest(sim, units, i, kind, raw, slipping, SIGNAL);
    done = left === 0;
    if (!whole) orders.set(row, book.UNITS, left);
  }
  const closed = lotsLeft(sim.exitedUnits, execution.quantityStep);
  if (closed === 0 && done) return orders.end(row, REJECTED, TOO_SMALL);
  if (closed > 0) sim.orders.fill(order, i, closed, sim.exitedValue / sim.exitedUnits);
  if (done) orders.end(row, FILLED, NO_REASON);
  else postpone(sim, row, i);
}

/** Closes a fraction of each trade, oldest first, and returns the units that volume did not allow. */
function exitFractions(
  sim: Simulation,
  fraction: number,
  i: number,
  kind: number,
  raw: number,
  slipping: boolean,
): number {
  let left = 0;
  for (let trade = 0; trade < sim.ledger.open.count; trade++) {
    const wanted = portion(sim, trade, fraction);
    left += wanted - exitTrade(sim, trade, wanted, i, kind, raw, slipping, SIGNAL);
  }
  return left;
}

/** Units that are this fraction of a trade, rounded down to lots; all of them from 1 on. */
function portion(sim: Simulation, trade: number, fraction: number): number {
  const held = sim.ledger.open.get(trade, open.QUANTITY);
  return fraction >= 1 ? held : roundToLots(held * fraction, sim.execution.quantityStep);
}

/**
 * Closes up to this many units, oldest trades first, at one price of the market.
 *
 * @returns Units that are left of what could have been closed: volume may have been short.
 */
export function exitOldest(
  sim: Simulation,
  units: number,
  i: number,
  kind: number,
  raw: number,
  slipping: boolean,
  reason: number,
): number {
  const { ledger, execution } = sim;
  let left = Math.min(units, Math.abs(ledger.quantity));
  while (ledger.open.count > 0 && left > 0) {
    const wanted = Math.min(left, ledger.open.get(0, open.QUANTITY));
    const closed = exitTrade(sim, 0, wanted, i, kind, raw, slipping, reason);
    left = lotsLeft(left - closed, execution.quantityStep);
    if (closed < wanted) break;
  }
  return left;
}

/**
 * Closes units of one trade at a price of the market and returns how many were closed: fewer, or none, where slippage
 * limits fills to a share of the candle's volume.
 *
 * @param reason Index into EXIT_REASONS.
 */
export function exitTrade(
  sim: Simulation,
  trade: number,
  units: number,
  i: number,
  kind: number,
  raw: number,
  slipping: boolean,
  reason: number,
): number {
  const closed = slipping ? takeVolume(sim, i, units) : units;
  if (closed === 0) return 0;
  const { ledger, execution } = sim;
  const price = fillPrice(sim, i, raw, -ledger.side, closed, false, slipping);
  ledger.exit(trade, i, kind, closed, price, feeOf(execution.commission, closed, price), reason);
  sim.exitedUnits += closed;
  sim.exitedValue += closed * price;
  sim.dirty = true;
  return closed;
}
