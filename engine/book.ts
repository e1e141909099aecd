import { CANCELLED, EXPIRED, FILLED, NO_REASON, NOTHING_TO_CLOSE, REJECTED } from "./orders.ts";
import { NO_SHORTS, OUT_OF_TIME, SUPERSEDED, TOO_MANY, UNUSABLE, WITHDRAWN } from "./orders.ts";
import * as open from "./open_trades.ts";
import { Records } from "./records.ts";
import type { Simulation } from "./simulation.ts";
import { sizeAtSignal } from "./order_sizing.ts";
import { sizingIndex } from "./rules/sizing.ts";
import { BY_DEFAULT, BY_EQUITY_FRACTION, BY_UNITS, LIMIT, MARKET, newDraft, REFUSED, STOP } from "./strategy.ts";
import { type OrderBook, type OrderDraft, STOP_LIMIT } from "./strategy.ts";

/** More orders than this at once are refused: a strategy that never cancels must not fill the memory. */
export const WORKING_ORDERS_MAX = 10_000;

// Fields of a row; prices are NaN where there is none.
export const NUMBER = 0;
export const SIDE = 1;
/** Index into ORDER_TYPES; a stop-limit order whose stop was reached has become a limit order. */
export const TYPE = 2;
export const SIZE_BY = 3;
export const SIZE = 4;
export const LIMIT_PRICE = 5;
export const STOP_PRICE = 6;
/** Indexes of the first and last candle in which the order works. */
export const FROM = 7;
export const UNTIL = 8;
/** 1: may only make the position smaller. */
export const REDUCES = 9;
/** Number of the trade that it closes, ALL_TRADES, or NaN: whatever its side reduces. */
export const CLOSES = 10;
export const STOP_LOSS = 11;
export const TAKE_PROFIT = 12;
export const STOP_LOSS_FRACTION = 13;
export const TAKE_PROFIT_FRACTION = 14;
export const TRAIL_DISTANCE = 15;
export const TRAIL_FRACTION = 16;
export const TIME_STOP_CANDLES = 17;
/** Units that are still to be filled; NaN until the order is sized. */
export const UNITS = 18;
/** Index of the candle in which it was sized. */
export const SIZED_AT = 19;
const WIDTH = 20;

export const ALL_TRADES = -1;

/** The orders that wait, in order of placement. */
export class Book extends Records implements OrderBook {
  readonly #sim: Simulation;
  readonly #closing = newDraft();
  /** Market orders (and stops that became ones) among those that wait. */
  markets = 0;

  constructor(sim: Simulation) {
    super(WIDTH, 16);
    this.#sim = sim;
    this.#closing.reduceOnly = true;
    this.#closing.sizeBy = BY_EQUITY_FRACTION;
  }

  get workingOrders(): number {
    return this.count;
  }

  get openTrades(): number {
    return this.#sim.ledger.open.count;
  }

  place(draft: OrderDraft): number {
    const { execution, ledger, orders } = this.#sim;
    const asked = draft.sizeBy === BY_UNITS ? draft.size : NaN;
    const reason = this.#refusal(draft);
    if (reason !== NO_REASON) {
      orders.end(orders.append(this.#sim.index, draft, asked), REJECTED, reason);
      return REFUSED;
    }
    const reduces = draft.reduceOnly || (draft.side < 0 && !execution.allowShort);
    if (execution.exclusive === "any" && !reduces) {
      this.#cancelEach(SUPERSEDED);
      // Before the entry takes its number: orders are found by numbers that rise from row to row.
      if (ledger.quantity !== 0) this.close(1, null);
    }
    const order = orders.append(this.#sim.index, draft, asked);
    const row = this.#append(order, draft, reduces);
    const fits = execution.sizingPrice === "fill" || reduces || sizeAtSignal(this.#sim, row);
    return fits ? order : REFUSED;
  }

  close(fraction: number, tag: string | null): number {
    return this.#close(ALL_TRADES, fraction, tag);
  }

  closeTrade(trade: number, fraction: number, tag: string | null): number {
    return this.#close(trade, fraction, tag);
  }

  cancel(order: number): boolean {
    const row = this.find(order);
    if (row < 0) return false;
    this.end(row, CANCELLED, WITHDRAWN);
    return true;
  }

  cancelAll(): void {
    this.#cancelEach(WITHDRAWN);
  }

  replace(order: number, draft: OrderDraft): number {
    return this.cancel(order) ? this.place(draft) : REFUSED;
  }

  isWorking(order: number): boolean {
    return this.find(order) >= 0;
  }

  tradeAt(n: number): number {
    return this.#sim.ledger.open.get(n, open.NUMBER);
  }

  isOpen(trade: number): boolean {
    return this.#sim.ledger.open.find(trade) >= 0;
  }

  tradeQuantity(trade: number): number {
    const { ledger } = this.#sim;
    const row = ledger.open.find(trade);
    return row < 0 ? 0 : ledger.side * ledger.open.get(row, open.QUANTITY);
  }

  tradeEntryPrice(trade: number): number {
    const { open: trades } = this.#sim.ledger;
    const row = trades.find(trade);
    return row < 0 ? NaN : trades.get(row, open.PRICE);
  }

  protect(trade: number, stopLoss: number, takeProfit: number): boolean {
    const { open: trades } = this.#sim.ledger;
    const row = trades.find(trade);
    if (row < 0) return false;
    trades.set(row, open.STOP_LOSS, stopLoss);
    trades.set(row, open.TAKE_PROFIT, takeProfit);
    this.#sim.hasGuards ||= trades.isGuarded(row);
    this.#sim.dirty = true;
    return true;
  }

  /** Takes an order out of the book and notes its end. */
  end(row: number, status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED, reason: number): void {
    this.#sim.orders.end(this.get(row, NUMBER), status, reason);
    if (this.get(row, TYPE) === MARKET) this.markets--;
    this.remove(row);
    this.#sim.dirty = true;
  }

  /** Ends the orders whose last candle was this one. */
  expire(i: number): void {
    for (let row = this.count - 1; row >= 0; row--) {
      if (this.get(row, UNTIL) <= i) this.end(row, EXPIRED, OUT_OF_TIME);
    }
  }

  #close(trade: number, fraction: number, tag: string | null): number {
    const draft = this.#closing;
    draft.side = -this.#sim.ledger.side;
    draft.size = Math.min(fraction, 1);
    draft.tag = tag;
    const order = this.place(draft);
    if (order !== REFUSED) this.set(this.count - 1, CLOSES, trade);
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
    return this.count >= WORKING_ORDERS_MAX ? TOO_MANY : NO_REASON;
  }

  #append(order: number, draft: OrderDraft, reduces: boolean): number {
    const { index, execution } = this.#sim;
    const byDefault = draft.sizeBy === BY_DEFAULT;
    const at = this.append();
    const { data } = this;
    data[at + NUMBER] = order;
    data[at + SIDE] = draft.side;
    data[at + TYPE] = draft.type;
    data[at + REDUCES] = reduces ? 1 : 0;
    // A reducing order that names no quantity reduces all there is.
    data[at + SIZE_BY] = byDefault && !reduces ? sizingIndex(execution) : draft.sizeBy;
    data[at + SIZE] = byDefault ? execution.sizing.value : draft.size;
    // A reused draft may still name prices that its new type has no use for.
    data[at + LIMIT_PRICE] = draft.type === LIMIT || draft.type === STOP_LIMIT ? draft.limitPrice : NaN;
    data[at + STOP_PRICE] = draft.type === STOP || draft.type === STOP_LIMIT ? draft.stopPrice : NaN;
    data[at + FROM] = draft.type === MARKET && execution.fill === "close" ? index : index + 1;
    data[at + UNTIL] = draft.candlesMax > 0 && draft.type !== MARKET ? index + draft.candlesMax : Infinity;
    data[at + STOP_LOSS] = draft.stopLoss;
    data[at + TAKE_PROFIT] = draft.takeProfit;
    data[at + STOP_LOSS_FRACTION] = draft.stopLossFraction;
    data[at + TAKE_PROFIT_FRACTION] = draft.takeProfitFraction;
    data[at + TRAIL_DISTANCE] = draft.trailDistance;
    data[at + TRAIL_FRACTION] = draft.trailFraction;
    data[at + TIME_STOP_CANDLES] = draft.timeStopCandles;
    data[at + CLOSES] = NaN;
    data[at + UNITS] = NaN;
    if (draft.type === MARKET) this.markets++;
    this.#sim.dirty = true;
    return this.count - 1;
  }

  #cancelEach(reason: typeof WITHDRAWN | typeof SUPERSEDED): void {
    for (let row = this.count - 1; row >= 0; row--) this.end(row, CANCELLED, reason);
  }
}
