import { exitOldest, fillReducing, SIGNAL } from "./exits.ts";
import { postpone, setPrice, takeVolume } from "./fill_price.ts";
import { AT_CLOSE, type OpenTrade } from "./open_trades.ts";
import { isAffordableNow, refusalOf, sizeAtFill } from "./order_sizing.ts";
import { FILLED, NO_BUYING_POWER, NO_REASON, REJECTED } from "./order_columns.ts";
import type { Simulation } from "./simulation.ts";
import type { WorkingOrder } from "./working_order.ts";

/**
 * Fills a working order where the market stands (sim.fill); it leaves the book, or stays for what is not filled yet.
 *
 * @param path Where a trade that this opens stands in its candle (open_trades.ts, entryPath).
 */
export function fillOrder(sim: Simulation, order: WorkingOrder, path: number): void {
  sim.dirty = true;
  if (order.isEntry) sim.book.turnTo(order.side);
  if (order.reduces) return fillReducing(sim, order);
  if (sim.execution.exclusive === "opposite" && sim.ledger.side === -order.side) {
    if (exitOldest(sim, Infinity, SIGNAL) > 0) return postpone(sim, order);
  }
  sizeAtFill(sim, order);
  const refusal = refusalOf(order.units);
  if (refusal === NO_REASON) return fillEntry(sim, order, path);
  sim.book.end(order, REJECTED, refusal);
}

/** Opens a trade, after netting against what is open on the other side. */
function fillEntry(sim: Simulation, order: WorkingOrder, path: number): void {
  const { ledger, lots, fill } = sim;
  if (ledger.side === -order.side) {
    sim.exitedUnits = 0;
    sim.exitedValue = 0;
    const left = exitOldest(sim, order.units, SIGNAL);
    const netted = lots.settle(sim.exitedUnits);
    if (netted > 0) sim.orders.fill(order.number, fill.index, netted, sim.exitedValue / sim.exitedUnits);
    order.units = lots.minus(order.units, netted);
    if (order.units === 0) return sim.book.end(order, FILLED, NO_REASON);
    if (left > 0) return postpone(sim, order);
  }
  const wanted = order.units;
  fill.units = fill.slips ? takeVolume(sim, wanted) : wanted;
  if (fill.units === 0) return postpone(sim, order);
  setPrice(sim, order.side, true);
  if (sim.execution.sizingPrice === "fill" && !isAffordableNow(sim, order)) {
    return sim.book.end(order, REJECTED, NO_BUYING_POWER);
  }
  const trade = ledger.enter(fill, order.side, order.number);
  if (trade.isNew) attach(sim, order, trade, path);
  sim.orders.fill(order.number, fill.index, fill.units, fill.price);
  order.units = lots.minus(wanted, fill.units);
  if (order.units === 0) sim.book.end(order, FILLED, NO_REASON);
  else postpone(sim, order);
}

/** Hands an order's stops, target and time limit to the trade that it has opened. */
function attach(sim: Simulation, order: WorkingOrder, trade: OpenTrade, path: number): void {
  const { price } = trade;
  const { side, timeStopCandles } = order;
  const { index, kind } = sim.fill;
  trade.entryStep = sim.step;
  trade.entryPath = path;
  trade.stopLoss = order.stopLoss;
  trade.takeProfit = order.takeProfit;
  // A price that is given counts, and not the fraction.
  if (Number.isNaN(order.stopLoss) && order.stopLossFraction > 0) {
    trade.stopLoss = price * (1 - side * order.stopLossFraction);
  }
  if (Number.isNaN(order.takeProfit) && order.takeProfitFraction > 0) {
    trade.takeProfit = price * (1 + side * order.takeProfitFraction);
  }
  if (order.trailDistance > 0 || order.trailFraction > 0) {
    trade.trailDistance = order.trailDistance;
    trade.trailFraction = order.trailFraction;
    trade.trail(side, price);
  }
  if (timeStopCandles > 0) trade.timeStop = index + timeStopCandles + (kind === AT_CLOSE ? 1 : 0);
  sim.hasGuards ||= trade.isGuarded;
}
