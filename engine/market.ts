import { Alarms } from "./alarms.ts";
import { Book } from "./book.ts";
import type { Candles } from "./candles.ts";
import { Exits } from "./exits.ts";
import { AT_CLOSE, AT_OPEN, Fill } from "./fill.ts";
import { FillPricing } from "./fill_pricing.ts";
import { Ledger } from "./ledger.ts";
import { OrderFills } from "./order_fills.ts";
import type { OrderLog } from "./order_log.ts";
import { OrderSizer } from "./order_sizer.ts";
import { Replay } from "./replay.ts";
import { financingOf, hasFinancing } from "./rules/financing.ts";
import type { Rules } from "./rules_of_run.ts";
import { MARKET } from "./strategy.ts";
import { END_OF_DATA, TIME_STOP } from "./trade_columns.ts";
import type { TradeLog } from "./trade_log.ts";
import type { TradingAccount } from "./trading_account.ts";
import type { WorkingOrder } from "./working_order.ts";
import { Walk } from "./walk.ts";
import { WalkFills } from "./walk_fills.ts";

/** The candles and rules of a market, its account and the logs of all of the account's markets. */
interface MarketParts {
  /** The market's index: its row among the account's markets. */
  readonly index: number;
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly timeframeMs: number | null;
  /** Candles of a finer timeframe, where there are some: the inside of a candle is replayed on them. */
  readonly finer: Candles | null;
  readonly rules: Rules;
  readonly account: TradingAccount;
  readonly orders: OrderLog;
  readonly trades: TradeLog;
  readonly keepsDetails: boolean;
}

/**
 * One market of an account: its candles, working orders, position and alarms. The driver takes it through its candles in order: `open`,
 * `inside`, and `settle` after the decision. Candles in which nothing is due (`isDue`) need neither of the first two.
 *
 * Order of events in a candle: financing of positions carried into it, time stops and market orders at the open, stops and
 * limits by price path (walk.ts), a margin call at the worst price, the mark at the close, the decision, and market orders
 * at the close if execution.fill says so. The driver marks the account.
 */
export class Market {
  readonly index: number;
  readonly candles: Candles;
  readonly ledger: Ledger;
  readonly book: Book;
  readonly alarms = new Alarms();
  /** Prices of fills, by which orders are sized. */
  readonly pricing: FillPricing;
  readonly #rules: Rules;
  /** The fill outside of walks: at the open, at the close and at the end. */
  readonly #fill = new Fill();
  readonly #exits: Exits;
  readonly #orderFills: OrderFills;
  readonly #inside: Replay;
  readonly #hasFinancing: boolean;

  constructor(parts: MarketParts) {
    const { index, candles, rules, firstIndex, finer, timeframeMs, account, orders, trades, keepsDetails } = parts;
    const { execution, lots } = rules;
    this.index = index;
    this.candles = candles;
    this.#rules = rules;
    this.#hasFinancing = hasFinancing(execution);
    if (execution.cashRate !== 0 && !account.isShared) this.alarms.index = firstIndex + 1;
    const pricing = new FillPricing(rules, candles.volume);
    const ledger = new Ledger(candles, lots, { account, log: trades, market: index, keepsDetails });
    const sizer = new OrderSizer({ rules, candles, pricing, ledger, orders });
    const book = new Book(rules, ledger, orders, sizer);
    const exits = new Exits(ledger, lots, pricing);
    this.ledger = ledger;
    this.pricing = pricing;
    this.book = book;
    this.#exits = exits;
    this.#orderFills = new OrderFills({ rules, ledger, orders, book, exits, pricing, sizer });
    const walk = new Walk(rules, ledger, book, new WalkFills(ledger, exits, this.#orderFills));
    this.#inside = new Replay(candles, finer, timeframeMs, walk);
  }

  /** True if orders or trades have changed since the alarms were set. */
  get isChanged(): boolean {
    return this.book.isChanged || this.ledger.isChanged;
  }

  /** Candles with events on both sides of the open whose order no finer candles show. */
  get unreplayedCandles(): number {
    return this.#inside.unreplayedCandles;
  }

  /** True if something may happen in candle `i`, besides a new price. */
  isDue(i: number): boolean {
    return i >= this.alarms.index || this.alarms.ringsIn(this.candles, i);
  }

  /** The first candle from `i` on and before `until` that is due; `until` where none is. */
  nextDue(i: number, until: number): number {
    const { candles: { low, high }, alarms: { index, below, above, watchesPrices } } = this;
    const end = Math.min(until, Math.max(i, index));
    if (!watchesPrices) return end;
    while (i < end && !(low[i]! <= below || high[i]! >= above)) i++;
    return i;
  }

  /** The open of candle `i`, then its inside. */
  simulate(i: number): void {
    this.open(i);
    this.inside(i);
  }

  /** Time stops and market orders at the open of candle `i`. */
  open(i: number): void {
    const { book } = this;
    this.closeDue(i);
    if (book.markets > 0) {
      this.#fill.at(i, AT_OPEN, this.candles.open[i]!, true);
      this.#fillMarkets(i);
    }
  }

  /** True if the market order in this row of the book may be filled at the open of candle `i`. */
  isDueAtOpen(row: number, i: number): boolean {
    const order = this.book.at(row);
    return order.type === MARKET && order.from <= i;
  }

  /** Fills one market order at the open of candle `i`. */
  fillAtOpen(order: WorkingOrder, i: number): void {
    this.#fill.at(i, AT_OPEN, this.candles.open[i]!, true);
    this.#orderFills.fill(order, this.#fill);
  }

  /** Exits that the open of candle `i` has passed, ahead of the rest of the candle. Without them `inside` makes the same ones. */
  exitPassed(i: number): void {
    if (this.#reachesGuard(i)) this.#inside.exitPassed(i);
  }

  /** Stops, limits, targets and a margin call inside candle `i`. */
  inside(i: number): void {
    const { book } = this;
    if (book.workingOrders > book.markets || this.#reachesGuard(i) || this.#callsMargin(i)) this.#inside.candle(i);
    book.expire(i);
    if (this.isChanged || this.#hasFinancing) this.setAlarms(i);
  }

  /** Fills the market orders of the decision at the close of candle `i`, if orders are filled there; false if they are not. */
  fillAtClose(i: number): boolean {
    if (!this.#rules.fill.isAtClose || this.book.markets === 0) return false;
    this.#fill.at(i, AT_CLOSE, this.candles.close[i]!, true);
    this.#fillMarkets(i);
    return true;
  }

  /** Sets the alarms after the decision at the close of candle `i`. */
  rearm(i: number): void {
    if (!this.ledger.hasGuards && this.book.workingOrders === this.book.markets) {
      // Market orders alone: the next candle needs a look, and the other alarms stay as they are.
      this.alarms.index = i + 1;
      this.forgetChanges();
    } else this.setAlarms(i);
  }

  /** Sets the alarms after candle `i` by the orders and trades that remain. */
  setAlarms(i: number): void {
    const { book, ledger } = this;
    if (ledger.open.count === 0) ledger.hasGuards = false;
    this.alarms.set(i, book, ledger, this.#rules);
    this.forgetChanges();
  }

  forgetChanges(): void {
    this.book.isChanged = this.ledger.isChanged = false;
    this.book.revision++;
  }

  /** Closes the open trades at the last open or close. A trade that was opened after the last open is closed at the close. */
  closeAtEnd(): void {
    const { open } = this.ledger;
    const { candles } = this;
    const fill = this.#fill;
    const last = candles.close.length - 1;
    while (open.count > 0) {
      const trade = open.at(0);
      const sawOpen = trade.entryIndex < last || trade.entryKind === AT_OPEN;
      if (this.#rules.execution.closeAtEnd === "last_open" && sawOpen) fill.force(last, AT_OPEN, candles.open[last]!);
      else fill.force(last, AT_CLOSE, candles.close[last]!);
      this.#exits.exit(fill, trade, trade.quantity, END_OF_DATA);
    }
  }

  /** Closes everything at the close of candle `i`, whatever the volume. @param reason Index into EXIT_REASONS. */
  closeAll(i: number, reason: number): void {
    this.#fill.force(i, AT_CLOSE, this.candles.close[i]!);
    this.#exits.exitOldest(this.#fill, Infinity, reason);
  }

  /**
   * Charges the time between the opens of candle `i` and the one before on the open trades.
   *
   * @param loan Money that this market's trades pay (negative) for what the account has borrowed, in the market's currency.
   */
  finance(i: number, loan: number): void {
    const { ledger } = this;
    const { time, close } = this.candles;
    const [before, from, to] = [close[i - 1]!, time[i - 1]!, time[i]!];
    const units = Math.abs(ledger.quantity);
    for (let row = 0; row < ledger.open.count; row++) {
      const trade = ledger.open.at(row);
      const quantity = ledger.side * trade.quantity;
      const share = trade.quantity / units;
      ledger.finance(trade, financingOf(this.#rules.execution, quantity, before, from, to) + loan * share);
    }
  }

  /** Closes at the open the trades whose time is over, and the rest of those whose stop met too little volume. */
  closeDue(i: number): void {
    if (!this.ledger.hasGuards) return;
    const { open } = this.ledger;
    const fill = this.#fill;
    fill.at(i, AT_OPEN, this.candles.open[i]!, true);
    for (let row = 0; row < open.count;) {
      const trade = open.at(row);
      const { quantity, isExiting } = trade;
      const reason = isExiting ? trade.exiting : TIME_STOP;
      const isDue = isExiting || trade.timeStop <= i;
      if (isDue) this.#exits.exit(fill, trade, quantity, reason);
      if (!isDue || fill.units < quantity) row++;
    }
  }

  /** Fills market orders in order of placement. An unfilled rest stays in the book. */
  #fillMarkets(i: number): void {
    const { book } = this;
    for (let n = 0; n < book.workingOrders;) {
      const before = book.workingOrders;
      const order = book.at(n);
      const { number } = order;
      if (order.type === MARKET && order.from <= i) this.#orderFills.fill(order, this.#fill);
      // An order that is filled may cancel others.
      n = book.workingOrders === before ? n + 1 : book.rowAfter(number);
    }
  }

  /** True if candle `i` reaches a stop or target, or moves a trailing stop: on most candles of entries none does. */
  #reachesGuard(i: number): boolean {
    if (!this.ledger.hasGuards) return false;
    if (this.isChanged) this.setAlarms(i);
    return this.alarms.ringsIn(this.candles, i);
  }

  #callsMargin(i: number): boolean {
    // First, so that highs and lows need not be fetched from memory.
    if (!this.#rules.execution.marginCall) return false;
    const { low, high } = this.candles;
    return this.#rules.margin.isCalled(this.ledger, this.ledger.side > 0 ? low[i]! : high[i]!);
  }
}
