import type { Book } from "./book.ts";
import type { Exits } from "./exits.ts";
import type { Fill } from "./fill.ts";
import type { Ledger } from "./ledger.ts";
import { CANCELLED, FILLED, NO_REASON, NO_RISK, NOTHING_TO_CLOSE, REJECTED, TOO_SMALL } from "./order_columns.ts";
import type { OpenTrade } from "./open_trade.ts";
import type { OrderLog } from "./order_log.ts";
import type { OrderSizer } from "./order_sizer.ts";
import type { Rules } from "./rules_of_run.ts";
import { BY_DEFAULT, BY_UNITS } from "./strategy.ts";
import { SIGNAL } from "./trade_columns.ts";
import { ALL_TRADES, ANY_TRADES, type WorkingOrder } from "./working_order.ts";

/** The values that a reducing order reads and changes. */
export interface ReductionParts {
  readonly rules: Rules;
  readonly ledger: Ledger;
  readonly orders: OrderLog;
  readonly book: Book;
  readonly exits: Exits;
  readonly sizer: OrderSizer;
}

/**
 * Fills orders that may only make the position smaller. Such an order closes a fraction of each trade (book.close), a
 * fraction of one trade, or units off the oldest trades. A part that is smaller than a lot is left alone.
 */
export class Reductions {
  readonly #lots: Rules["lots"];
  readonly #ledger: Ledger;
  readonly #orders: OrderLog;
  readonly #book: Book;
  readonly #exits: Exits;
  readonly #sizer: OrderSizer;

  constructor({ rules, ledger, orders, book, exits, sizer }: ReductionParts) {
    this.#lots = rules.lots;
    this.#ledger = ledger;
    this.#orders = orders;
    this.#book = book;
    this.#exits = exits;
    this.#sizer = sizer;
  }

  /** Fills a reducing order; it leaves the book, or waits for the units that volume did not allow. */
  fill(order: WorkingOrder, fill: Fill): void {
    const book = this.#book;
    const ledger = this.#ledger;
    const exits = this.#exits;
    if (ledger.side !== -order.side) return this.#endEmpty(order);
    exits.begin();
    let left = NaN;
    if (order.closes >= 0) {
      const trade = ledger.open.find(order.closes);
      if (trade === null) return this.#endEmpty(order);
      left = this.#exitPart(order, fill, trade);
    } else if (order.closes === ALL_TRADES && order.size < 1) left = this.#exitFractions(order, fill);
    else {
      const isWhole = order.closes === ALL_TRADES || order.sizeBy === BY_DEFAULT;
      if (!isWhole) this.#sizer.sizeAtFill(order, fill);
      const units = isWhole ? Infinity : order.units;
      if (!(units > 0)) return book.end(order, REJECTED, Number.isNaN(units) ? NO_RISK : TOO_SMALL);
      left = exits.exitOldest(fill, units, SIGNAL);
      if (!isWhole) order.units = left;
    }
    const closed = this.#lots.settle(exits.units);
    if (closed === 0 && left === 0) return book.end(order, REJECTED, TOO_SMALL);
    if (closed > 0) this.#orders.fill(order.number, fill.index, closed, exits.price);
    if (left === 0) book.end(order, FILLED, NO_REASON);
    else book.postpone(order, fill.index);
  }

  /** Ends an order without a position. An entry is refused: it reduces only because short selling is not allowed. */
  #endEmpty(order: WorkingOrder): void {
    this.#book.end(order, order.isEntry ? REJECTED : CANCELLED, NOTHING_TO_CLOSE);
  }

  /** Closes a fraction of one trade, or what is left of that fraction. Returns the units that volume did not allow. */
  #exitPart(order: WorkingOrder, fill: Fill, trade: OpenTrade): number {
    const { size: fraction, units } = order;
    const wanted = Number.isNaN(units) ? this.#portion(trade, fraction) : Math.min(units, trade.quantity);
    this.#exits.exit(fill, trade, wanted, SIGNAL);
    const left = this.#lots.minus(wanted, fill.units);
    if (fraction < 1) order.units = left;
    return left;
  }

  /** Closes a fraction of each trade, oldest first. Returns the units that volume did not allow. */
  #exitFractions(order: WorkingOrder, fill: Fill): number {
    const { open } = this.#ledger;
    let left = 0;
    for (let row = 0; row < open.count;) {
      const before = open.count;
      const trade = open.at(row);
      const wanted = this.#portion(trade, order.size);
      this.#exits.exit(fill, trade, wanted, SIGNAL);
      left += wanted - fill.units;
      if (open.count === before) row++;
    }
    // The rest is taken off the oldest trades in later candles.
    order.closes = ANY_TRADES;
    order.sizeBy = BY_UNITS;
    order.units = this.#lots.settle(left);
    return left;
  }

  /** Units in this fraction of a trade, rounded down to lots; all of them from a fraction of 1 on. */
  #portion(trade: OpenTrade, fraction: number): number {
    return fraction >= 1 ? trade.quantity : Math.min(trade.quantity, this.#lots.roundDown(trade.quantity * fraction));
  }
}
