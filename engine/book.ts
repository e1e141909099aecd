import { CANCELLED, EXPIRED, type FILLED, NO_REASON, NOTHING_TO_CLOSE, REJECTED } from "./order_columns.ts";
import { NO_SHORTS, OUT_OF_TIME, SUPERSEDED, TOO_MANY, UNUSABLE, WITHDRAWN } from "./order_columns.ts";
import { NumberedList } from "./numbered_list.ts";
import type { Simulation } from "./simulation.ts";
import { sizeAtSignal } from "./order_sizing.ts";
import { sizingIndex } from "./rules/sizing.ts";
import { BY_DEFAULT, BY_EQUITY_FRACTION, LIMIT, MARKET, newDraft, REFUSED, STOP } from "./strategy.ts";
import { type OrderBook, type OrderDraft, STOP_LIMIT } from "./strategy.ts";
import { ALL_TRADES, WorkingOrder } from "./working_order.ts";

/** More orders than this at once are refused: a strategy that never cancels must not fill the memory. */
export const WORKING_ORDERS_MAX = 10_000;

/** The orders that wait, in order of placement, and where a strategy places them. */
export class Book implements OrderBook {
  readonly #sim: Simulation;
  readonly #working = new NumberedList(() => new WorkingOrder());
  readonly #closing = newDraft();
  /** How an entry is sized that does not say it. */
  readonly #sizeBy: number;
  /** Market orders (and stops that became ones) among those that wait. */
  markets = 0;
  /** Entries among those that wait of which volume has not allowed all. */
  heldBack = 0;

  constructor(sim: Simulation) {
    this.#sim = sim;
    this.#sizeBy = sizingIndex(sim.execution);
    this.#closing.reduceOnly = true;
    this.#closing.sizeBy = BY_EQUITY_FRACTION;
  }

  get workingOrders(): number {
    return this.#working.count;
  }

  get openTrades(): number {
    return this.#sim.ledger.open.count;
  }

  /** The n-th order that waits, in order of placement. */
  at(n: number): WorkingOrder {
    return this.#working.at(n);
  }

  /** Where the first order stands that waits and was placed after the one of this number, which may have ended. */
  rowAfter(number: number): number {
    return this.#working.rowFrom(number + 1);
  }

  place(draft: OrderDraft): number {
    const { execution, ledger, orders, index } = this.#sim;
    const reason = this.#refusal(draft);
    if (reason !== NO_REASON) {
      orders.end(orders.append(index, draft), REJECTED, reason);
      return REFUSED;
    }
    const reduces = draft.reduceOnly || (draft.side < 0 && !execution.allowShort);
    if (execution.exclusive === "any" && !reduces) {
      this.#cancelEach(SUPERSEDED);
      // Before the entry takes its number: orders are found by numbers that rise from row to row.
      if (ledger.quantity !== 0) this.close(1, null);
    }
    const order = this.#working.append();
    order.begin(orders.append(index, draft), draft, index, execution, reduces);
    // A reducing order that names no quantity reduces all there is.
    if (draft.sizeBy === BY_DEFAULT && !reduces) order.sizeBy = this.#sizeBy;
    if (draft.type === MARKET) this.markets++;
    this.#sim.dirty = true;
    const fits = execution.sizingPrice === "fill" || reduces || sizeAtSignal(this.#sim, order);
    if (!fits) return REFUSED;
    // The older ones would be filled first.
    if (draft.type === MARKET && !draft.reduceOnly) this.turnTo(draft.side);
    return order.number;
  }

  close(fraction: number, tag: string | null): number {
    return this.#close(ALL_TRADES, fraction, tag);
  }

  closeTrade(trade: number, fraction: number, tag: string | null): number {
    return this.#close(trade, fraction, tag);
  }

  cancel(number: number): boolean {
    const order = this.#working.find(number);
    if (order === null) return false;
    this.end(order, CANCELLED, WITHDRAWN);
    return true;
  }

  cancelAll(): void {
    this.#cancelEach(WITHDRAWN);
  }

  replace(order: number, draft: OrderDraft): number {
    return this.cancel(order) ? this.place(draft) : REFUSED;
  }

  isWorking(order: number): boolean {
    return this.#working.find(order) !== null;
  }

  tradeAt(n: number): number {
    return this.#sim.ledger.open.at(n).number;
  }

  isOpen(trade: number): boolean {
    return this.#sim.ledger.open.find(trade) !== null;
  }

  tradeQuantity(trade: number): number {
    const { ledger } = this.#sim;
    const found = ledger.open.find(trade);
    return found === null ? 0 : ledger.side * found.quantity;
  }

  tradeEntryPrice(trade: number): number {
    return this.#sim.ledger.open.find(trade)?.price ?? NaN;
  }

  protect(number: number, stopLoss: number, takeProfit: number): boolean {
    const trade = this.#sim.ledger.open.find(number);
    if (trade === null) return false;
    trade.stopLoss = stopLoss;
    trade.takeProfit = takeProfit;
    this.#sim.hasGuards ||= trade.isGuarded;
    this.#sim.dirty = true;
    return true;
  }

  /**
   * Withdraws what volume held back of entries of the other side, where positions are to be on one side (exclusive
   * `opposite`): it would be bought only to be sold again, and before the newer entry has its turn.
   */
  turnTo(side: number): void {
    if (this.heldBack === 0 || this.#sim.execution.exclusive !== "opposite") return;
    for (let n = this.workingOrders - 1; n >= 0; n--) {
      const order = this.at(n);
      if (order.isHeldBack && order.side === -side) this.end(order, CANCELLED, SUPERSEDED);
    }
  }

  /** Takes an order out of the book and notes its end. */
  end(
    order: WorkingOrder,
    status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED,
    reason: number,
  ): void {
    this.#sim.orders.end(order.number, status, reason);
    if (order.type === MARKET) this.markets--;
    if (order.isHeldBack) this.heldBack--;
    this.#working.remove(order);
    this.#sim.dirty = true;
  }

  /** Ends the orders whose last candle was this one. */
  expire(i: number): void {
    for (let n = this.workingOrders - 1; n >= 0; n--) {
      const order = this.at(n);
      if (order.until <= i) this.end(order, EXPIRED, OUT_OF_TIME);
    }
  }

  #close(trade: number, fraction: number, tag: string | null): number {
    const draft = this.#closing;
    draft.side = -this.#sim.ledger.side;
    draft.size = Math.min(fraction, 1);
    draft.tag = tag;
    const order = this.place(draft);
    if (order !== REFUSED) this.at(this.workingOrders - 1).closes = trade;
    return order;
  }

  /** Why an order cannot even wait; NO_REASON when it can. */
  #refusal(draft: OrderDraft): number {
    const { ledger, execution } = this.#sim;
    if (draft.reduceOnly && ledger.side === 0 && draft.type === MARKET) return NOTHING_TO_CLOSE;
    if (draft.side !== 1 && draft.side !== -1) return UNUSABLE;
    if (draft.sizeBy !== BY_DEFAULT && !(draft.size > 0 && draft.size < Infinity)) return UNUSABLE;
    const needsLimit = draft.type === LIMIT || draft.type === STOP_LIMIT;
    const needsStop = draft.type === STOP || draft.type === STOP_LIMIT;
    if (needsLimit && !(draft.limitPrice > 0 && draft.limitPrice < Infinity)) return UNUSABLE;
    if (needsStop && !(draft.stopPrice > 0 && draft.stopPrice < Infinity)) return UNUSABLE;
    if (!needsLimit && !needsStop && draft.type !== MARKET) return UNUSABLE;
    if (draft.side < 0 && !execution.allowShort && ledger.side === 0 && draft.type === MARKET) return NO_SHORTS;
    return this.workingOrders >= WORKING_ORDERS_MAX ? TOO_MANY : NO_REASON;
  }

  #cancelEach(reason: typeof WITHDRAWN | typeof SUPERSEDED): void {
    for (let n = this.workingOrders - 1; n >= 0; n--) this.end(this.at(n), CANCELLED, reason);
  }
}
