import * as book from "./book.ts";
import { FILLED, NO_BUYING_POWER, NO_REASON, NO_RISK, REJECTED, TOO_SMALL } from "./orders.ts";
import { exitOldest, fillReducing, SIGNAL } from "./exits.ts";
import { fillPrice, postpone, slips, takeVolume } from "./fill_price.ts";
import * as open from "./open_trades.ts";
import { isAffordableNow, sizeAtFill } from "./order_sizing.ts";
import { feeOf } from "./rules/fees.ts";
import { lotsLeft } from "./rules/lots.ts";
import type { Simulation } from "./simulation.ts";

/**
 * Fills a working order at a price that the market offers; it leaves the book, or stays for what is not filled yet.
 *
 * @param raw The candle's price, before spread and slippage. @param kind How it was reached (open_trades.ts).
 * @param path Where a trade that this opens stands in its candle (open_trades.ts, ENTRY_PATH).
 */
export function fillOrder(sim: Simulation, row: number, i: number, raw: number, kind: number, path: number): void {
  const orders = sim.book;
  sim.dirty = true;
  if (orders.get(row, book.REDUCES) === 1) {
    fillReducing(sim, row, i, raw, kind);
    return;
  }
  const side = orders.get(row, book.SIDE);
  if (sim.execution.exclusive === "opposite" && sim.ledger.side === -side) {
    if (exitOldest(sim, Infinity, i, kind, raw, slips(sim, row), SIGNAL) > 0) return postpone(sim, row, i);
  }
  const units = sizeAtFill(sim, row, i, raw);
  if (!(units > 0)) {
    orders.end(row, REJECTED, Number.isNaN(units) ? NO_RISK : TOO_SMALL);
    return;
  }
  fillEntry(sim, row, i, raw, kind, path, units);
}

/** Opens a trade, after netting against what is open on the other side. */
function fillEntry(
  sim: Simulation,
  row: number,
  i: number,
  raw: number,
  kind: number,
  path: number,
  units: number,
): void {
  const { book: orders, ledger, execution } = sim;
  const order = orders.get(row, book.NUMBER);
  const side = orders.get(row, book.SIDE);
  const slipping = slips(sim, row);
  let wanted = units;
  if (ledger.side === -side) {
    sim.exitedUnits = 0;
    sim.exitedValue = 0;
    const left = exitOldest(sim, wanted, i, kind, raw, slipping, SIGNAL);
    const netted = lotsLeft(sim.exitedUnits, execution.quantityStep);
    if (netted > 0) sim.orders.fill(order, i, netted, sim.exitedValue / sim.exitedUnits);
    wanted = lotsLeft(wanted - netted, execution.quantityStep);
    orders.set(row, book.UNITS, wanted);
    if (wanted === 0) return orders.end(row, FILLED, NO_REASON);
    if (left > 0) return postpone(sim, row, i);
  }
  const now = slipping ? takeVolume(sim, i, wanted) : wanted;
  if (now === 0) return postpone(sim, row, i);
  const price = fillPrice(sim, i, raw, side, now, true, slipping);
  if (execution.sizingPrice === "fill" && !isAffordableNow(sim, row, i, raw, now, price)) {
    return orders.end(row, REJECTED, NO_BUYING_POWER);
  }
  const trade = ledger.enter(i, kind, side, now, price, feeOf(execution.commission, now, price), order);
  if (Number.isNaN(ledger.open.get(trade, open.ENTRY_STEP))) attach(sim, row, trade, i, kind, path);
  sim.orders.fill(order, i, now, price);
  orders.set(row, book.UNITS, lotsLeft(wanted - now, execution.quantityStep));
  if (orders.get(row, book.UNITS) === 0) orders.end(row, FILLED, NO_REASON);
  else postpone(sim, row, i);
}

/** Hands an order's stops, target and time limit to the trade that it has opened. */
function attach(sim: Simulation, row: number, trade: number, i: number, kind: number, path: number): void {
  const { book: orders, ledger: { open: trades, side } } = sim;
  const price = trades.get(trade, open.PRICE);
  trades.set(trade, open.ENTRY_STEP, sim.step);
  trades.set(trade, open.ENTRY_PATH, path);
  trades.set(trade, open.STOP_LOSS, guardPrice(orders, row, book.STOP_LOSS, book.STOP_LOSS_FRACTION, price, -side));
  trades.set(
    trade,
    open.TAKE_PROFIT,
    guardPrice(orders, row, book.TAKE_PROFIT, book.TAKE_PROFIT_FRACTION, price, side),
  );
  const distance = orders.get(row, book.TRAIL_DISTANCE);
  const fraction = orders.get(row, book.TRAIL_FRACTION);
  if (distance > 0 || fraction > 0) {
    trades.set(trade, open.TRAIL_DISTANCE, distance);
    trades.set(trade, open.TRAIL_FRACTION, fraction);
    trades.trail(trade, side, price);
  }
  const candles = orders.get(row, book.TIME_STOP_CANDLES);
  if (candles > 0) trades.set(trade, open.TIME_STOP, i + candles + (kind === open.AT_CLOSE ? 1 : 0));
  sim.hasGuards ||= trades.isGuarded(trade);
}

/** A guard's price: as given, or a fraction of the entry price away from it; NaN for neither. */
function guardPrice(orders: book.Book, row: number, field: number, fractionField: number, entry: number, side: number) {
  const given = orders.get(row, field);
  if (!Number.isNaN(given)) return given;
  const fraction = orders.get(row, fractionField);
  return fraction > 0 ? entry * (1 + side * fraction) : NaN;
}
