import type { Book } from "./book.ts";
import type { Exits } from "./exits.ts";
import { AT_CLOSE, type Fill } from "./fill.ts";
import type { FillPricing } from "./fill_pricing.ts";
import type { Ledger } from "./ledger.ts";
import type { OpenTrade } from "./open_trade.ts";
import { FILLED, NO_BUYING_POWER, NO_REASON, NO_SLOT, NOT_A_MEMBER, REJECTED } from "./order_columns.ts";
import type { OrderLog } from "./order_log.ts";
import { type OrderSizer, refusalOf } from "./order_sizer.ts";
import { type ReductionParts, Reductions } from "./reductions.ts";
import type { Rules } from "./rules_of_run.ts";
import { SIGNAL } from "./trade_columns.ts";
import type { WorkingOrder } from "./working_order.ts";

interface Parts extends ReductionParts {
  readonly pricing: FillPricing;
}

/** Fills working orders: entries after what they close or net, and reducing orders. */
export class OrderFills {
  readonly #rules: Rules;
  readonly #ledger: Ledger;
  readonly #orders: OrderLog;
  readonly #book: Book;
  readonly #pricing: FillPricing;
  readonly #exits: Exits;
  readonly #sizer: OrderSizer;
  readonly #reductions: Reductions;

  constructor(parts: Parts) {
    this.#rules = parts.rules;
    this.#ledger = parts.ledger;
    this.#orders = parts.orders;
    this.#book = parts.book;
    this.#pricing = parts.pricing;
    this.#exits = parts.exits;
    this.#sizer = parts.sizer;
    this.#reductions = new Reductions(parts);
  }

  /** Fills an order where the market stands; it leaves the book, or waits for its unfilled rest. */
  fill(order: WorkingOrder, fill: Fill): void {
    const ledger = this.#ledger;
    const book = this.#book;
    fill.order = order.number;
    if (order.isEntry) book.cancelHeldBack(-order.side);
    if (order.reduces) return this.#reductions.fill(order, fill);
    if (this.#rules.exclusive.replacesOpposite && ledger.side === -order.side) {
      if (this.#exits.exitOldest(fill, Infinity, SIGNAL) > 0) return book.postpone(order, fill.index);
    }
    const closed = this.#whyClosed(order);
    if (closed !== NO_REASON) return book.end(order, REJECTED, closed);
    this.#sizer.sizeAtFill(order, fill);
    const refusal = refusalOf(order.units);
    if (refusal !== NO_REASON) return book.end(order, REJECTED, refusal);
    if (ledger.side !== -order.side || this.#nets(order, fill)) this.#enter(order, fill);
  }

  /** Why the market cannot be entered, or its position enlarged; NO_REASON where it can. */
  #whyClosed({ side }: WorkingOrder): number {
    const ledger = this.#ledger;
    const { account } = ledger;
    if (ledger.side === 0 && account.positions >= account.positionsMax) return NO_SLOT;
    return ledger.isMember || ledger.side === -side ? NO_REASON : NOT_A_MEMBER;
  }

  /** Nets an order against the open trades of the other side; true when units remain that open a trade now. */
  #nets(order: WorkingOrder, fill: Fill): boolean {
    const { lots } = this.#rules;
    const book = this.#book;
    const exits = this.#exits;
    exits.begin();
    const left = exits.exitOldest(fill, order.units, SIGNAL);
    const netted = lots.settle(exits.units);
    if (netted > 0) this.#orders.fill(order.number, fill.index, netted, exits.price);
    order.units = lots.minus(order.units, netted);
    if (order.units === 0) book.end(order, FILLED, NO_REASON);
    else if (left > 0) book.postpone(order, fill.index);
    else return true;
    return false;
  }

  /** Opens a trade, or adds to the one that this order has opened. */
  #enter(order: WorkingOrder, fill: Fill): void {
    const ledger = this.#ledger;
    const book = this.#book;
    const wanted = order.units;
    this.#pricing.take(fill, wanted);
    if (fill.units === 0) return book.postpone(order, fill.index);
    this.#pricing.price(fill, order.side, true);
    if (this.#rules.execution.sizingPrice === "fill" && !this.#sizer.isAffordable(order, fill)) {
      return book.end(order, REJECTED, NO_BUYING_POWER);
    }
    const { opened } = ledger;
    const trade = ledger.enter(fill, order.side, order.number);
    if (ledger.opened > opened) {
      attachGuards(order, trade, fill);
      if (isBeyondPrices(order)) countUnreachable(ledger, order);
      ledger.hasGuards ||= trade.isGuarded;
    }
    this.#orders.fill(order.number, fill.index, fill.units, fill.price);
    order.units = this.#rules.lots.minus(wanted, fill.units);
    if (order.units === 0) book.end(order, FILLED, NO_REASON);
    else book.postpone(order, fill.index);
  }
}

/** Gives an order's stops, target and time limit to the trade that it has opened. */
function attachGuards(order: WorkingOrder, trade: OpenTrade, { index, kind }: Fill): void {
  const { price } = trade;
  const { side, timeStopCandles } = order;
  trade.stopLoss = order.stopLoss;
  trade.takeProfit = order.takeProfit;
  // A given price counts before a fraction.
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
}

/** True if a fraction puts a guard of an entry at or below 0. A given price, or distance, counts before a fraction. */
function isBeyondPrices(order: WorkingOrder): boolean {
  if (order.side < 0) return order.takeProfitFraction >= 1 && Number.isNaN(order.takeProfit);
  return isStopBeyond(order) || (order.trailFraction >= 1 && !(order.trailDistance > 0));
}

function isStopBeyond({ stopLoss, stopLossFraction }: WorkingOrder): boolean {
  return stopLossFraction >= 1 && Number.isNaN(stopLoss);
}

function countUnreachable({ account }: Ledger, order: WorkingOrder): void {
  const [guard, fraction] = order.side < 0
    ? ["target", order.takeProfitFraction] as const
    : isStopBeyond(order)
    ? ["stop loss", order.stopLossFraction] as const
    : ["trailing stop", order.trailFraction] as const;
  account.unreachable ??= { trades: 0, guard, fraction };
  account.unreachable.trades++;
}
