import type { Ledger } from "./ledger.ts";
import { NumberedList } from "./numbered_list.ts";
import {
  CANCELLED,
  EXPIRED,
  type FILLED,
  NO_REASON,
  NOT_A_MEMBER,
  NOTHING_TO_CLOSE,
  REJECTED,
} from "./order_columns.ts";
import {
  NO_LIMIT_PRICE,
  NO_SHORTS,
  NO_STOP_PRICE,
  OUT_OF_TIME,
  SUPERSEDED,
  TOO_MANY,
  UNUSABLE,
  WITHDRAWN,
} from "./order_columns.ts";
import type { OrderLog } from "./order_log.ts";
import type { OrderSizer } from "./order_sizer.ts";
import type { Rules } from "./rules_of_run.ts";
import { TYPE_RULES } from "./rules/orders/order_types.ts";
import { BY_DEFAULT, BY_EQUITY_FRACTION, LIMIT, MARKET, newDraft, REFUSED, SIZES_BY } from "./strategy.ts";
import type { OrderBook, OrderDraft } from "./strategy.ts";
import type { FillRecord, TradeDetails, TradeWatch } from "./trade_watch.ts";
import { ALL_TRADES, WorkingOrder } from "./working_order.ts";

/** The book refuses more orders than this at once: a strategy that never cancels must not fill the memory. */
export const WORKING_ORDERS_MAX = 10_000;

/** The working orders in order of placement, and the strategy's way to place them. */
export class Book implements OrderBook {
  readonly #rules: Rules;
  readonly #ledger: Ledger;
  readonly #orders: OrderLog;
  readonly #sizer: OrderSizer;
  readonly #working = new NumberedList(() => new WorkingOrder());
  readonly #closing = newDraft();
  /** The sizing of an entry that names none: index into SIZES_BY. */
  readonly #sizeBy: number;
  /** The candle at whose close the strategy places orders. */
  index = -1;
  /** Working market orders, stops that became market orders included. */
  markets = 0;
  /** True if orders have changed since the alarms were set. */
  isChanged = false;
  revision = 0;
  /** Working entries that volume has filled only in part, or not at all. */
  #heldBack = 0;

  constructor(rules: Rules, ledger: Ledger, orders: OrderLog, sizer: OrderSizer) {
    this.#rules = rules;
    this.#ledger = ledger;
    this.#orders = orders;
    this.#sizer = sizer;
    this.#sizeBy = SIZES_BY.indexOf(rules.execution.sizing.type);
    this.#closing.reduceOnly = true;
    this.#closing.sizeBy = BY_EQUITY_FRACTION;
  }

  get workingOrders(): number {
    return this.#working.count;
  }

  get openTrades(): number {
    return this.#ledger.open.count;
  }

  /** The n-th working order, in order of placement. */
  at(n: number): WorkingOrder {
    return this.#working.at(n);
  }

  /** The working order of this number; null where it has ended. */
  find(number: number): WorkingOrder | null {
    return this.#working.find(number);
  }

  /** The row of the first working order that was placed after the one of this number, which may have ended. */
  rowAfter(number: number): number {
    return this.#working.rowFrom(number + 1);
  }

  place(draft: OrderDraft): number {
    const { index } = this;
    const { execution, exclusive } = this.#rules;
    const orders = this.#orders;
    const reason = this.#refusal(draft);
    if (reason !== NO_REASON) {
      orders.end(orders.append(this.#ledger.market, index, draft), REJECTED, reason);
      return REFUSED;
    }
    const reduces = draft.reduceOnly || (draft.side < 0 && !execution.allowShort);
    if (exclusive.replacesAll && !reduces) {
      this.#cancelEach(SUPERSEDED);
      // The closing order comes before the entry: numbers must rise from row to row.
      if (this.#ledger.quantity !== 0) this.close(1, null);
    }
    const order = this.#working.append();
    order.begin(orders.append(this.#ledger.market, index, draft), draft, index, this.#rules, reduces);
    // A reducing order that names no quantity closes everything.
    if (draft.sizeBy === BY_DEFAULT && !reduces) order.sizeBy = this.#sizeBy;
    if (draft.type === MARKET) this.markets++;
    this.isChanged = true;
    if (execution.sizingPrice === "signal_close" && !reduces) {
      const refusal = this.#sizer.sizeAtSignal(order, index);
      if (refusal !== NO_REASON) {
        this.end(order, REJECTED, refusal);
        return REFUSED;
      }
    }
    // The older orders would be filled first.
    if (draft.type === MARKET && !draft.reduceOnly) this.cancelHeldBack(-draft.side);
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
    return this.#ledger.open.at(n).number;
  }

  isOpen(trade: number): boolean {
    return this.#ledger.open.find(trade) !== null;
  }

  tradeQuantity(trade: number): number {
    const found = this.#ledger.open.find(trade);
    return found === null ? 0 : this.#ledger.side * found.quantity;
  }

  tradeEntryPrice(trade: number): number {
    return this.#ledger.open.find(trade)?.price ?? NaN;
  }

  protect(trade: number, stopLoss: number | null, takeProfit: number | null): boolean {
    return this.#ledger.protect(trade, stopLoss, takeProfit);
  }

  watchFills(): FillRecord[] {
    return this.#watch().fills;
  }

  /** Has `watchFills` keep them in a list of several markets. */
  shareFills(fills: FillRecord[]): void {
    this.#watch().fills = fills;
  }

  describeTrade(trade: number, i: number): TradeDetails | null {
    const found = this.#ledger.open.find(trade);
    return found === null ? null : this.#watch().describe(found, this.#ledger.side, i);
  }

  /**
   * Cancels the held-back entries of a side where positions must be on one side (exclusive `opposite`). They would buy
   * units only to be sold again, and before the newer entry is filled.
   */
  cancelHeldBack(side: number): void {
    if (this.#heldBack === 0 || !this.#rules.exclusive.replacesOpposite) return;
    for (let n = this.workingOrders - 1; n >= 0; n--) {
      const order = this.at(n);
      if (order.isHeldBack && order.side === side) this.end(order, CANCELLED, SUPERSEDED);
    }
  }

  /** Keeps the unfilled rest of an order for the open after candle `i`, at market: a reached stop stays reached. */
  postpone(order: WorkingOrder, i: number): void {
    if (order.type !== MARKET && order.slips) {
      order.become(MARKET);
      order.until = Infinity;
      this.markets++;
    }
    order.from = i + 1;
    if (order.isEntry && !order.isHeldBack) {
      order.isHeldBack = true;
      this.#heldBack++;
    }
    this.isChanged = true;
  }

  /** Turns a stop-limit order whose stop was reached into a limit order that works from candle `from`. */
  makeLimit(order: WorkingOrder, from: number): void {
    order.become(LIMIT);
    order.from = from;
    this.isChanged = true;
  }

  /** Removes an order from the book and logs its end. */
  end(
    order: WorkingOrder,
    status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED,
    reason: number,
  ): void {
    this.#orders.end(order.number, status, reason);
    if (order.type === MARKET) this.markets--;
    if (order.isHeldBack) this.#heldBack--;
    this.#working.remove(order);
    this.isChanged = true;
  }

  /** Ends the orders whose last candle was `i`. */
  expire(i: number): void {
    for (let n = this.workingOrders - 1; n >= 0; n--) {
      const order = this.at(n);
      if (order.until <= i) this.end(order, EXPIRED, OUT_OF_TIME);
    }
  }

  /** Without a position there is nothing to place: it is no order, and none that is refused. */
  #close(trade: number, fraction: number, tag: string | null): number {
    if (this.#ledger.side === 0) return REFUSED;
    const draft = this.#closing;
    draft.side = -this.#ledger.side;
    draft.size = Math.min(fraction, 1);
    draft.tag = tag;
    const order = this.place(draft);
    if (order !== REFUSED) this.at(this.workingOrders - 1).closes = trade;
    return order;
  }

  /** Why an order cannot work at all; NO_REASON when it can. */
  #refusal(draft: OrderDraft): number {
    const { side } = this.#ledger;
    if (draft.reduceOnly && side === 0 && draft.type === MARKET) return NOTHING_TO_CLOSE;
    if (draft.side !== 1 && draft.side !== -1) return UNUSABLE;
    if (draft.sizeBy !== BY_DEFAULT && !(draft.size > 0 && draft.size < Infinity)) return UNUSABLE;
    const type = TYPE_RULES[draft.type];
    if (type === undefined) return UNUSABLE;
    if (type.namesLimit && !(draft.limitPrice > 0 && draft.limitPrice < Infinity)) return NO_LIMIT_PRICE;
    if (type.namesStop && !(draft.stopPrice > 0 && draft.stopPrice < Infinity)) return NO_STOP_PRICE;
    if (draft.side < 0 && !this.#rules.execution.allowShort && side === 0 && draft.type === MARKET) return NO_SHORTS;
    if (!this.#ledger.isMember && !draft.reduceOnly && draft.side !== -side) return NOT_A_MEMBER;
    return this.workingOrders >= WORKING_ORDERS_MAX ? TOO_MANY : NO_REASON;
  }

  #watch(): TradeWatch {
    return this.#ledger.watch((order) => this.#orders.tagOf(order));
  }

  #cancelEach(reason: typeof WITHDRAWN | typeof SUPERSEDED): void {
    for (let n = this.workingOrders - 1; n >= 0; n--) this.end(this.at(n), CANCELLED, reason);
  }
}
