import { Alarms } from "./alarms.ts";
import { Book } from "./book.ts";
import { type BufferPool, takeDoubles } from "./buffer_pool.ts";
import type { Candles } from "./candles.ts";
import type { Execution } from "./execution.ts";
import { Exits } from "./exits.ts";
import { AT_CLOSE, AT_OPEN, Fill } from "./fill.ts";
import { FillPricing } from "./fill_pricing.ts";
import { Ledger } from "./ledger.ts";
import { OrderFills } from "./order_fills.ts";
import { OrderLog } from "./order_log.ts";
import { OrderSizer } from "./order_sizer.ts";
import { Replay } from "./replay.ts";
import { cashInterestOf, financingOf, hasFinancing, marginInterestOf } from "./rules/financing.ts";
import { Lots } from "./rules/lots.ts";
import { isMarginCall } from "./rules/margin.ts";
import { MARKET } from "./strategy.ts";
import { END_OF_DATA, MARGIN_CALL, TIME_STOP } from "./trade_columns.ts";
import { Walk } from "./walk.ts";
import { WalkFills } from "./walk_fills.ts";

/** The inputs of a simulation; run.ts explains each. */
export interface SimulationInput {
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly initialBalance: number;
  readonly execution: Execution;
  readonly timeframeMs: number | null;
  /** Candles of a finer timeframe, where there are some: the inside of a candle is replayed on them. */
  readonly finer: Candles | null;
  readonly pool?: BufferPool | null;
  readonly keepsDetails?: boolean;
}

/** The end of an account. */
export interface Ruin {
  /** Candle. */
  readonly index: number;
  /** Money lost beyond the account, which the broker bears. */
  readonly loss: number;
  /** Trades, closed there, whose pnl is better by that money than their prices give. */
  readonly trades: number;
}

/**
 * One account in one market, driven candle by candle: `advance(i)`, then orders through `book`, then `settle(i)`; and
 * `finish()` after the last candle. The caller passes every candle in order from firstIndex; `rest` takes many at once.
 *
 * Order of events in a candle: financing of positions carried into it, time stops and market orders at the open, stops and
 * limits by price path (walk.ts), a margin call at the worst price, the mark at the close, the decision, and market orders
 * at the close if execution.fill says so.
 *
 * The state has four owners: the ledger (money and trades), the book (working orders), the order log and the columns of
 * equity and position here. Every other part reads these and passes fills to them.
 */
export class Simulation {
  /** How the account came to nothing; null unless it did. */
  ruin: Ruin | null = null;
  readonly ledger: Ledger;
  readonly orders: OrderLog;
  readonly book: Book;
  /** Equity at each candle's close, from firstIndex. */
  readonly equity: Float64Array;
  /** Units held at each candle's close, negative when short. */
  readonly position: Float64Array;
  readonly #candles: Candles;
  readonly #execution: Execution;
  readonly #firstIndex: number;
  readonly #alarms = new Alarms();
  /** The fill outside of walks: at the open, at the close and at the end. */
  readonly #fill = new Fill();
  readonly #exits: Exits;
  readonly #orderFills: OrderFills;
  readonly #inside: Replay;
  readonly #fillsAtClose: boolean;
  readonly #hasFinancing: boolean;

  constructor(input: SimulationInput) {
    const { candles, execution, firstIndex, finer, timeframeMs, pool = null, keepsDetails = true } = input;
    const rows = candles.close.length - firstIndex;
    this.#candles = candles;
    this.#execution = execution;
    this.#firstIndex = firstIndex;
    this.equity = takeDoubles(pool, rows);
    this.position = takeDoubles(pool, rows);
    this.#fillsAtClose = execution.fill === "close";
    this.#hasFinancing = hasFinancing(execution);
    if (execution.cashRate !== 0) this.#alarms.index = firstIndex + 1;
    const orders = new OrderLog(candles.time, pool);
    const lots = new Lots(execution.quantityStep);
    const pricing = new FillPricing(execution, candles.volume, lots);
    const ledger = new Ledger(candles, input.initialBalance, lots, { pool, keepsDetails });
    const sizer = new OrderSizer(execution, candles, lots, ledger, orders);
    const book = new Book(execution, ledger, orders, sizer);
    const exits = new Exits(ledger, lots, pricing);
    this.orders = orders;
    this.ledger = ledger;
    this.book = book;
    this.#exits = exits;
    this.#orderFills = new OrderFills({ execution, lots, ledger, orders, book, exits, pricing, sizer });
    const walk = new Walk(execution, ledger, book, new WalkFills(ledger, exits, this.#orderFills));
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

  /**
   * Takes candles from `i` on and before `until`, as long as nothing happens in them and the account only needs a mark.
   *
   * @returns The first candle that is left for `advance`.
   */
  rest(i: number, until: number): number {
    const { ledger, equity, position } = this;
    const { low, high, close } = this.#candles;
    const firstIndex = this.#firstIndex;
    const { cash, quantity } = ledger;
    const { below, above } = this.#alarms;
    const end = Math.min(until, this.#alarms.index, close.length);
    const isWatched = this.#alarms.watchesPrices;
    const from = i;
    for (; i < end && !(isWatched && (low[i]! <= below || high[i]! >= above)); i++) {
      const value = cash + quantity * close[i]!;
      // `advance` handles ruin.
      if (!(value > 0)) break;
      equity[i - firstIndex] = value;
      position[i - firstIndex] = quantity;
    }
    if (i > from) ledger.equity = equity[i - 1 - firstIndex]!;
    return i;
  }

  /** Brings the account from the last candle's close to this one's; false when nothing is left and the run is over. */
  advance(i: number): boolean {
    this.book.index = i;
    if (i >= this.#alarms.index || this.#alarms.ringsIn(this.#candles, i)) this.#simulate(i);
    return this.#mark(i);
  }

  /** Takes over the decisions at the close of candle `i`. Returns as `advance` does. */
  settle(i: number): boolean {
    if (!this.isChanged) return true;
    const { book } = this;
    if (this.#fillsAtClose && book.markets > 0) {
      this.#fill.at(i, AT_CLOSE, this.#candles.close[i]!, true);
      this.#fillMarkets(i);
      if (!this.#mark(i)) return false;
    } else if (!this.ledger.hasGuards && book.workingOrders === book.markets) {
      // Market orders alone: the next candle needs a look, and the other alarms stay as they are.
      this.#alarms.index = i + 1;
      this.#forgetChanges();
      return true;
    }
    this.#setAlarms(i);
    return true;
  }

  /** Closes the open trades if closeAtEnd says so, and completes the logs. */
  finish(): void {
    if (this.#execution.closeAtEnd !== "none" && this.ledger.open.count > 0) this.#closeAtEnd();
    this.ledger.finish();
  }

  #simulate(i: number): void {
    const { book } = this;
    if (this.#hasFinancing) this.#finance(i);
    this.#closeDue(i);
    if (book.markets > 0) {
      this.#fill.at(i, AT_OPEN, this.#candles.open[i]!, true);
      this.#fillMarkets(i);
    }
    if (book.workingOrders > book.markets || this.#reachesGuard(i) || this.#callsMargin(i)) this.#inside.candle(i);
    book.expire(i);
    if (this.isChanged || this.#hasFinancing) this.#setAlarms(i);
  }

  #setAlarms(i: number): void {
    const { book, ledger } = this;
    if (ledger.open.count === 0) ledger.hasGuards = false;
    this.#alarms.set(i, book, ledger, this.#execution);
    this.#forgetChanges();
  }

  #forgetChanges(): void {
    this.book.isChanged = this.ledger.isChanged = false;
    this.book.revision++;
  }

  /** Values the account at the close; false when nothing is left. */
  #mark(i: number): boolean {
    const { ledger } = this;
    const row = i - this.#firstIndex;
    const equity = ledger.mark(row, this.#candles.close[i]!);
    this.equity[row] = equity;
    this.position[row] = ledger.quantity;
    return equity > 0 || this.#ruin(i);
  }

  #finance(i: number): void {
    if (i === this.#firstIndex) return;
    const { ledger } = this;
    const execution = this.#execution;
    const { time, close } = this.#candles;
    const [before, from, to] = [close[i - 1]!, time[i - 1]!, time[i]!];
    const units = Math.abs(ledger.quantity);
    const loan = marginInterestOf(execution, ledger.cash, from, to);
    const interest = cashInterestOf(execution, ledger.cash, ledger.side < 0 ? units * before : 0, from, to);
    for (let row = 0; row < ledger.open.count; row++) {
      const trade = ledger.open.at(row);
      const quantity = ledger.side * trade.quantity;
      const share = trade.quantity / units;
      ledger.finance(trade, financingOf(execution, quantity, before, from, to) + loan * share);
    }
    ledger.earn(interest);
  }

  /** Closes at the open the trades whose time is over, and the rest of those whose stop met too little volume. */
  #closeDue(i: number): void {
    if (!this.ledger.hasGuards) return;
    const { open } = this.ledger;
    const fill = this.#fill;
    fill.at(i, AT_OPEN, this.#candles.open[i]!, true);
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
    if (this.isChanged) this.#setAlarms(i);
    return this.#alarms.ringsIn(this.#candles, i);
  }

  #callsMargin(i: number): boolean {
    // First, so that highs and lows need not be fetched from memory.
    if (!this.#execution.marginCall) return false;
    const { low, high } = this.#candles;
    return isMarginCall(this.#execution, this.ledger, this.ledger.side > 0 ? low[i]! : high[i]!);
  }

  /** Closes every trade at the last open or close. A trade that was opened after the last open is closed at the close. */
  #closeAtEnd(): void {
    const { open } = this.ledger;
    const candles = this.#candles;
    const fill = this.#fill;
    const last = candles.close.length - 1;
    while (open.count > 0) {
      const trade = open.at(0);
      const sawOpen = trade.entryIndex < last || trade.entryKind === AT_OPEN;
      if (this.#execution.closeAtEnd === "last_open" && sawOpen) fill.force(last, AT_OPEN, candles.open[last]!);
      else fill.force(last, AT_CLOSE, candles.close[last]!);
      this.#exits.exit(fill, trade, trade.quantity, END_OF_DATA);
    }
    this.#mark(last);
  }

  /** Ends the run with equity 0: closes everything at the close, and writes off the loss beyond the account. */
  #ruin(i: number): boolean {
    const { ledger } = this;
    if (Number.isNaN(ledger.equity)) throw new TypeError(`Cannot value the account at candle ${i}: equity is NaN`);
    const before = ledger.log.count;
    this.#fill.force(i, AT_CLOSE, this.#candles.close[i]!);
    this.#exits.exitOldest(this.#fill, Infinity, MARGIN_CALL);
    const trades = Math.max(1, ledger.log.count - before);
    this.ruin = { index: i, loss: -ledger.cash, trades };
    const row = i - this.#firstIndex;
    ledger.writeOff(row, trades);
    this.equity.fill(0, row);
    this.position.fill(0, row);
    this.#forgetChanges();
    return false;
  }
}
