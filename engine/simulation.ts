import { Alarms } from "./alarms.ts";
import { Book } from "./book.ts";
import type { Candles } from "./candles.ts";
import type { Execution } from "./execution.ts";
import { exitAll, exitTrade } from "./exits.ts";
import { fillOrder } from "./entries.ts";
import { Fill } from "./fill.ts";
import { Ledger } from "./ledger.ts";
import { MARGIN_CALL } from "./margin_calls.ts";
import { AT_CLOSE, AT_OPEN, BEFORE_ALL } from "./open_trades.ts";
import { OrderLog } from "./order_log.ts";
import { Replay } from "./replay.ts";
import { financingOf, hasFinancing } from "./rules/financing.ts";
import { Lots } from "./rules/lots.ts";
import { isMarginCall } from "./rules/margin.ts";
import { Sizing } from "./rules/sizing.ts";
import { MARKET } from "./strategy.ts";
import { EXIT_REASONS } from "./trade_columns.ts";

const TIME_STOP = EXIT_REASONS.indexOf("time_stop");
const END_OF_DATA = EXIT_REASONS.indexOf("end_of_data");

/** What a simulation is about; run.ts says more of each. */
export interface SimulationInput {
  readonly candles: Candles;
  readonly firstIndex: number;
  readonly initialBalance: number;
  readonly execution: Execution;
  readonly timeframeMs: number;
  /** Candles of a finer timeframe: where there are some, what happens inside a candle is replayed on them. */
  readonly finer: Candles | null;
}

/**
 * One account in one market, driven candle by candle: `advance(i)`, then orders through `book`, then `settle(i)`; and
 * `finish()` after the last candle. Candles are taken in order from firstIndex, none left out; `rest` takes many at once.
 *
 * Inside one candle: financing of what was carried into it, time stops and market orders at the open, stops and limits by
 * price path (walk.ts), a margin call at the worst price, the mark at the close, the decision, and market orders at the
 * close where execution.fill says so.
 */
export class Simulation {
  readonly candles: Candles;
  readonly execution: Execution;
  readonly firstIndex: number;
  readonly lots: Lots;
  readonly ledger: Ledger;
  readonly orders = new OrderLog();
  readonly book: Book;
  readonly alarms = new Alarms();
  /** Equity at each candle's close, from firstIndex. */
  readonly equity: Float64Array;
  /** Units held at each candle's close, negative when short. */
  readonly position: Float64Array;
  /** The candle that is being simulated. */
  index = -1;
  /** Whether something has changed that the alarms depend on. */
  dirty = false;
  /** Whether an open trade may have a stop, a target or a time limit. */
  hasGuards = false;
  /** Counts the walks, so that a trade knows whether it was opened in the present one. */
  step = 0;
  /** Units and value of the exits since whoever asks has set them to 0. */
  exitedUnits = 0;
  exitedValue = 0;
  volumeIndex = -1;
  volumeTaken = 0;
  /** Whether fills are forced, and whole whatever the volume. */
  ignoresVolume = false;
  /** Where the market stands when something is filled. */
  readonly fill = new Fill();
  readonly sizing = new Sizing();
  /** What happens inside candles. */
  readonly inside: Replay;
  readonly #fillsAtClose: boolean;
  readonly #hasFinancing: boolean;

  constructor(input: SimulationInput) {
    this.candles = input.candles;
    this.execution = input.execution;
    this.firstIndex = input.firstIndex;
    this.lots = new Lots(input.execution.quantityStep);
    this.ledger = new Ledger(input.candles, input.initialBalance, this.lots);
    const rows = input.candles.close.length - input.firstIndex;
    this.equity = new Float64Array(rows);
    this.position = new Float64Array(rows);
    this.book = new Book(this);
    this.inside = new Replay(this, input.finer, input.timeframeMs);
    this.#fillsAtClose = input.execution.fill === "close";
    this.#hasFinancing = hasFinancing(input.execution);
  }

  /**
   * Takes candles from `i` on, and before `until`, for as long as nothing happens in them but that the account is valued.
   *
   * @returns The first candle that is left for `advance`.
   */
  rest(i: number, until: number): number {
    const { ledger, firstIndex, equity, position, candles: { low, high, close } } = this;
    const { cash, quantity } = ledger;
    const { below, above } = this.alarms;
    const end = Math.min(until, this.alarms.index, close.length);
    const from = i;
    for (; i < end && !(low[i]! <= below || high[i]! >= above); i++) {
      const value = cash + quantity * close[i]!;
      // Ruin is something that happens.
      if (!(value > 0)) break;
      equity[i - firstIndex] = value;
      position[i - firstIndex] = quantity;
    }
    if (i > from) {
      this.index = i - 1;
      ledger.equity = equity[i - 1 - firstIndex]!;
    }
    return i;
  }

  /** Brings the account from the last candle's close to this one's; false when the run is over because nothing is left. */
  advance(i: number): boolean {
    const { candles, alarms } = this;
    this.index = i;
    if (i >= alarms.index || candles.low[i]! <= alarms.below || candles.high[i]! >= alarms.above) this.#simulate(i);
    return this.#mark(i);
  }

  /** Takes over what was decided at the close of candle `i`; false as `advance`. */
  settle(i: number): boolean {
    if (!this.dirty) return true;
    if (this.#fillsAtClose && this.book.markets > 0) {
      this.fill.at(i, AT_CLOSE, this.candles.close[i]!, true);
      this.#fillMarkets(i);
      if (!this.#mark(i)) return false;
    } else if (!this.hasGuards && this.book.workingOrders === this.book.markets) {
      // Market orders alone: the next candle is looked at, and whatever else was to ring still is.
      this.alarms.index = i + 1;
      this.dirty = false;
      return true;
    }
    this.#setAlarms(i);
    return true;
  }

  /** Closes what closeAtEnd says, and completes the columns. */
  finish(): void {
    if (this.execution.closeAtEnd !== "none" && this.ledger.open.count > 0) this.#closeAtEnd();
    this.ledger.finish();
  }

  #simulate(i: number): void {
    if (this.#hasFinancing) this.#finance(i);
    this.#closeDue(i);
    if (this.book.markets > 0) {
      this.fill.at(i, AT_OPEN, this.candles.open[i]!, true);
      this.#fillMarkets(i);
    }
    if (this.hasGuards || this.book.workingOrders > this.book.markets || this.#callsMargin(i)) {
      this.inside.candle(i);
    }
    this.book.expire(i);
    if (this.dirty || this.#hasFinancing) this.#setAlarms(i);
  }

  #setAlarms(i: number): void {
    if (this.ledger.open.count === 0) this.hasGuards = false;
    this.alarms.set(this, i);
    this.dirty = false;
  }

  /** Values the account at the close; false when that leaves nothing. */
  #mark(i: number): boolean {
    const { ledger } = this;
    const equity = ledger.cash + ledger.quantity * this.candles.close[i]!;
    ledger.equity = equity;
    this.equity[i - this.firstIndex] = equity;
    this.position[i - this.firstIndex] = ledger.quantity;
    return equity > 0 || this.#ruin(i);
  }

  #finance(i: number): void {
    const { ledger, candles: { time, close }, execution } = this;
    for (let row = 0; row < ledger.open.count; row++) {
      const trade = ledger.open.at(row);
      const quantity = ledger.side * trade.quantity;
      ledger.finance(trade, financingOf(execution, quantity, close[i - 1]!, time[i - 1]!, time[i]!));
    }
  }

  /** Closes at the open what has been held long enough, and what a stop could not close for want of volume. */
  #closeDue(i: number): void {
    if (!this.hasGuards) return;
    const { open } = this.ledger;
    this.fill.at(i, AT_OPEN, this.candles.open[i]!, true);
    for (let row = 0; row < open.count;) {
      const trade = open.at(row);
      const { quantity, isExiting } = trade;
      const reason = isExiting ? trade.exiting : TIME_STOP;
      const isDue = isExiting || trade.timeStop <= i;
      if (isDue) exitTrade(this, trade, quantity, reason);
      if (!isDue || this.fill.units < quantity) row++;
    }
  }

  /** Fills market orders in order of placement; what volume does not allow stays. */
  #fillMarkets(i: number): void {
    const { book } = this;
    for (let n = 0; n < book.workingOrders;) {
      const before = book.workingOrders;
      const order = book.at(n);
      const { number } = order;
      if (order.type === MARKET && order.from <= i) fillOrder(this, order, BEFORE_ALL);
      // An order that is filled may withdraw others.
      n = book.workingOrders === before ? n + 1 : book.rowAfter(number);
    }
  }

  #callsMargin(i: number): boolean {
    const { ledger, execution, candles } = this;
    return isMarginCall(execution, ledger, ledger.side > 0 ? candles.low[i]! : candles.high[i]!);
  }

  /** At the last open or close; what was opened only after the last open cannot be closed at it. */
  #closeAtEnd(): void {
    const { ledger: { open }, candles, execution } = this;
    const last = candles.close.length - 1;
    this.ignoresVolume = true;
    while (open.count > 0) {
      const trade = open.at(0);
      const sawOpen = trade.entryIndex < last || trade.entryKind === AT_OPEN;
      if (execution.closeAtEnd === "last_open" && sawOpen) this.fill.at(last, AT_OPEN, candles.open[last]!, true);
      else this.fill.at(last, AT_CLOSE, candles.close[last]!, true);
      exitTrade(this, trade, trade.quantity, END_OF_DATA);
    }
    this.ignoresVolume = false;
    this.#mark(last);
  }

  /**
   * Ends the run: everything is closed at the close. What is lost beyond the account is the broker's: it is credited to
   * the trades closed here, in proportion to their quantities, so that equity is 0 and not less.
   */
  #ruin(i: number): boolean {
    const { ledger } = this;
    if (Number.isNaN(ledger.equity)) throw new TypeError(`Equity is not a number at candle ${i}`);
    const before = ledger.log.count;
    exitAll(this, i, AT_CLOSE, this.candles.close[i]!, MARGIN_CALL);
    const closed = ledger.log.count - before;
    ledger.log.credit(closed > 0 ? closed : 1, -ledger.cash);
    ledger.cash = 0;
    ledger.equity = 0;
    this.equity[i - this.firstIndex] = 0;
    this.position[i - this.firstIndex] = 0;
    this.dirty = false;
    return false;
  }
}
