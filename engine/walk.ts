import type { Book } from "./book.ts";
import { AT_OPEN, BEFORE_ALL, FROM_ABOVE, FROM_BELOW, NO_EXITS } from "./fill.ts";
import type { Ledger } from "./ledger.ts";
import { A_MARGIN_CALL, A_STOP, A_TARGET, AN_ORDER, type Event, NextEvents } from "./next_events.ts";
import type { OpenTrade } from "./open_trade.ts";
import type { Rules } from "./rules_of_run.ts";
import { opensBeyondLimit, opensBeyondStop, reachesLimit, reachesStop } from "./rules/triggers.ts";
import { MARKET } from "./strategy.ts";
import type { WalkFills } from "./walk_fills.ts";
import type { WorkingOrder } from "./working_order.ts";

/**
 * The events inside a candle, of which only four prices are known.
 *
 * The open comes first and the close last; high and low lie between in an unknown order. So:
 * 1. Orders that the open has already passed are filled at the open: first stops and targets of open trades, oldest trade
 *    first (a stop before a target), then orders in order of placement.
 * 2. Prices below the open are reached in falling order, prices above it in rising order. Which side comes first is
 *    unknown: `bothTouched` decides. `stop_first` prefers stops of open trades, then orders, then targets; `target_first`
 *    the reverse; two orders keep their order of placement. `nearest` goes first to the extreme (high or low) that is
 *    nearer to the open, to the low when both are equally near, and then to the other.
 * 3. A trade that is opened inside the candle is reached from one side. Prices further on in that direction certainly come
 *    after the entry; prices on the other side do so only if the close is there or beyond. Only certain exits are filled.
 *    A stop further on is filled, unless targets come first and the close proves the target. A target further on is filled
 *    only if the candle never touches the stop, or targets come first. Other exits wait for the next candle. An exit that
 *    the entry price has already passed is filled at that price, a stop before a target.
 *    (entryCandleExit `same_direction`: only the target of a stop order, and only if the stop was not touched.)
 * 4. Trailing stops then follow the candle's best price (of the part that certainly comes after the entry). A close beyond
 *    the moved stop proves that the stop was hit on the way back: it fills at its own price.
 * 5. A margin call liquidates at the worst price, after all events on the way there. `bothTouched` orders it among events
 *    on the other side as if it were a stop. A price that may come before an entry calls nothing; then only the close can.
 *
 * A trade is ambiguous when one candle reaches its target and also its stop or a margin call, and the open did not decide.
 */
export class Walk {
  readonly #execution: Rules["execution"];
  readonly #margin: Rules["margin"];
  readonly #ledger: Ledger;
  readonly #book: Book;
  readonly #fills: WalkFills;
  readonly #next: NextEvents;
  readonly #penetrate: boolean;
  /** True if the last step had events on both sides of the open. */
  isContested = false;
  /** The prices of the candle that is walked next, or of the finer candle within it. */
  open = NaN;
  high = NaN;
  low = NaN;
  close = NaN;
  #i = 0;
  /** Number of the step: a trade with the same `entryStep` was opened in it. */
  #step = 0;

  constructor({ execution, margin }: Rules, ledger: Ledger, book: Book, fills: WalkFills) {
    this.#execution = execution;
    this.#margin = margin;
    this.#ledger = ledger;
    this.#book = book;
    this.#fills = fills;
    this.#next = new NextEvents(execution.bothTouched);
    this.#penetrate = execution.limitFill === "penetrate";
  }

  /** @param i Index of the candle to which fills belong. @param isFirst Whether `open` is that candle's own open. */
  step(i: number, isFirst: boolean): void {
    this.#fills.begin(this.#i = i, this.#step);
    this.isContested = false;
    this.#fillOpened(isFirst);
    for (;;) {
      this.#look();
      const event = this.#next.first(this);
      if (event === null) break;
      this.isContested ||= this.#next.areOnBothSides();
      this.#take(event, event === this.#next.down ? FROM_ABOVE : FROM_BELOW);
    }
    this.#settleEntries();
    this.#trail();
    // Rule 5, after all other events.
    const price = this.#isWorstSeen() ? this.#worst() : this.close;
    if (this.#margin.isCalled(this.#ledger, price)) this.#fills.liquidate(price);
    this.#step++;
  }

  /** The first part of rule 1 alone. A later step finds it done. */
  exitPassed(i: number): void {
    this.#fills.begin(this.#i = i, this.#step);
    this.#exitAllOpened(true);
  }

  #exitAllOpened(isFirst: boolean): void {
    const { open } = this.#ledger;
    for (let row = 0; row < open.count;) row = this.#exitOpened(open.at(row), isFirst) ? row : row + 1;
  }

  /** Rule 1. */
  #fillOpened(isFirst: boolean): void {
    const book = this.#book;
    this.#exitAllOpened(isFirst);
    for (let n = 0; n < book.workingOrders;) {
      const before = book.workingOrders;
      const order = book.at(n);
      const { number } = order;
      this.#fillOpenedOrder(order, isFirst);
      n = book.workingOrders === before ? n + 1 : book.rowAfter(number);
    }
    // The open may also have passed the guards of a trade that an order has just opened.
    this.#exitAllOpened(isFirst);
  }

  /** Closes a trade whose stop or target the open has passed; true when the trade is gone. */
  #exitOpened(trade: OpenTrade, isFirst: boolean): boolean {
    const { side } = this.#ledger;
    const price = this.open;
    if (!this.#seesAll(trade)) return false;
    const stop = trade.stopOn(side);
    const kind = isFirst ? AT_OPEN : side > 0 ? FROM_ABOVE : FROM_BELOW;
    if (opensBeyondStop(-side, stop, price)) return this.#fills.exitAtStop(trade, price, kind);
    if (!opensBeyondLimit(-side, trade.takeProfit, price, this.#penetrate)) return false;
    if (!this.#execution.openDecides && reachesStop(-side, stop, this.high, this.low)) {
      return this.#fills.exitAtStop(trade, stop, kind);
    }
    this.#fills.exitAtTarget(trade, price, kind);
    return true;
  }

  #fillOpenedOrder(order: WorkingOrder, isFirst: boolean): void {
    if (order.type === MARKET || order.from > this.#i) return;
    const price = this.open;
    if (!order.isPassedBy(price, this.#penetrate)) return;
    if (order.makesLimitAt(price)) return this.#book.makeLimit(order, this.#i);
    const risesToIt = order.direction > 0;
    const kind = isFirst ? AT_OPEN : risesToIt ? FROM_BELOW : FROM_ABOVE;
    const isFree = this.#execution.entryCandleExit !== "same_direction";
    this.#fillOrder(order, price, kind, isFree ? BEFORE_ALL : this.#pathOf(order, risesToIt));
  }

  /** Fills an order, and at once the exits that the price of an entry inside the candle has already passed. */
  #fillOrder(order: WorkingOrder, level: number, kind: number, path: number): void {
    const opened = this.#fills.fillOrder(order, level, kind, path);
    if (path !== BEFORE_ALL && opened !== null) this.#exitPassed(opened, level, kind);
  }

  #exitPassed(trade: OpenTrade, level: number, kind: number): void {
    const { side } = this.#ledger;
    if (!this.#seesCandle(trade)) return;
    const stop = trade.stopOn(side);
    const isFree = this.#execution.entryCandleExit === true;
    if (isFree && opensBeyondStop(-side, stop, level)) return void this.#fills.exitAtStop(trade, level, kind);
    if (!opensBeyondLimit(-side, trade.takeProfit, level, this.#penetrate)) return;
    const isAhead = trade.entryPath === side;
    if (!isFree && (!isAhead || reachesStop(-side, stop, this.high, this.low))) return;
    this.#fills.exitAtTarget(trade, level, kind);
  }

  /** Finds the nearest event on either side of the open, and flags the trades that are ambiguous. */
  #look(): void {
    const { open, side } = this.#ledger;
    const book = this.#book;
    const worst = this.#worst();
    const isCalled = this.#margin.isCalled(this.#ledger, worst);
    this.#next.clear();
    for (let row = 0; row < open.count; row++) this.#lookAtTrade(open.at(row), row, side, isCalled);
    for (let n = 0; n < book.workingOrders; n++) this.#lookAtOrder(book.at(n), n);
    // Where targets come first, every other event comes before the call.
    if (!isCalled || this.#execution.bothTouched === "target_first" || !this.#isWorstSeen()) return;
    this.#next.offer(-side, worst, A_MARGIN_CALL, 0);
  }

  #lookAtOrder(order: WorkingOrder, n: number): void {
    if (order.type === MARKET || order.from > this.#i) return;
    if (!order.isReachedBy(this.high, this.low, this.#penetrate)) return;
    this.#next.offer(order.direction, order.level, AN_ORDER, n);
  }

  #lookAtTrade(trade: OpenTrade, row: number, side: number, isCalled: boolean): void {
    const execution = this.#execution;
    if (trade.isExiting || !this.#seesCandle(trade)) return;
    const stop = trade.stopOn(side);
    const target = trade.takeProfit;
    const stopTouched = reachesStop(-side, stop, this.high, this.low);
    const targetTouched = reachesLimit(-side, target, this.high, this.low, this.#penetrate);
    const mayBeGone = stopTouched || isCalled;
    if (mayBeGone && targetTouched) trade.isAmbiguous = true;
    const path = trade.entryStep === this.#step ? trade.entryPath : BEFORE_ALL;
    if (path === BEFORE_ALL) {
      if (stopTouched) this.#next.offer(-side, stop, A_STOP, row);
      if (targetTouched) this.#next.offer(side, target, A_TARGET, row);
      return;
    }
    const isFree = execution.entryCandleExit === true;
    const targetsFirst = isFree && execution.bothTouched === "target_first";
    if (path === side) {
      if (targetTouched && (!mayBeGone || targetsFirst)) this.#next.offer(side, target, A_TARGET, row);
    } else if (isFree && stopTouched && !(targetsFirst && this.#closesAtTarget(target, side))) {
      this.#next.offer(-side, stop, A_STOP, row);
    }
  }

  #take(event: Event, kind: number): void {
    const { open } = this.#ledger;
    const book = this.#book;
    const { level, row } = event;
    if (event.type === A_MARGIN_CALL) this.#fills.liquidate(level);
    else if (event.type === A_STOP) this.#fills.exitAtStop(open.at(row), level, kind);
    else if (event.type === A_TARGET) this.#fills.exitAtTarget(open.at(row), level, kind);
    else {
      const order = book.at(row);
      if (order.makesLimitAt(order.level)) book.makeLimit(order, this.#i + 1);
      else this.#fillOrder(order, level, kind, this.#pathOf(order, kind === FROM_BELOW));
    }
  }

  /** The path (fill.ts) of an entry that is reached on the way up or down. `same_direction` goes by the type of the order. */
  #pathOf(order: WorkingOrder, isRising: boolean): number {
    const hasLimit = !Number.isNaN(order.limitPrice);
    if (this.#execution.entryCandleExit === "same_direction" && hasLimit) return NO_EXITS;
    return isRising ? 1 : -1;
  }

  /** Rule 3: the exits that the close proves for trades opened inside. */
  #settleEntries(): void {
    const { open } = this.#ledger;
    if (this.#execution.entryCandleExit !== true) return;
    for (let row = 0; row < open.count;) row = this.#settleEntry(open.at(row)) ? row : row + 1;
  }

  /** True when the trade is gone. */
  #settleEntry(trade: OpenTrade): boolean {
    const { side } = this.#ledger;
    const { entryPath: path, takeProfit: target } = trade;
    if (trade.entryStep !== this.#step || path === BEFORE_ALL || trade.isExiting) return false;
    const stop = trade.stopOn(side);
    if (path === side) {
      if (!reachesStop(-side, stop, this.close, this.close)) return false;
      return this.#fills.exitAtStop(trade, stop, -side > 0 ? FROM_BELOW : FROM_ABOVE);
    }
    if (!this.#closesAtTarget(target, side)) return false;
    this.#fills.exitAtTarget(trade, target, side > 0 ? FROM_BELOW : FROM_ABOVE);
    return true;
  }

  #closesAtTarget(target: number, side: number): boolean {
    return reachesLimit(-side, target, this.close, this.close, this.#penetrate);
  }

  /** Rule 4. */
  #trail(): void {
    const { open } = this.#ledger;
    for (let row = 0; row < open.count;) row = this.#trailTrade(open.at(row)) ? row : row + 1;
  }

  /** True when the trade is gone. */
  #trailTrade(trade: OpenTrade): boolean {
    const { side } = this.#ledger;
    if (Number.isNaN(trade.trailStop) || trade.isExiting) return false;
    const isInside = trade.entryStep === this.#step && trade.entryPath !== BEFORE_ALL;
    const awayFromBest = side > 0 ? FROM_ABOVE : FROM_BELOW;
    const mayBeBefore = isInside && trade.entryKind === awayFromBest;
    trade.trail(side, mayBeBefore ? this.close : side > 0 ? this.high : this.low);
    this.#ledger.isChanged = true;
    if (!this.#seesCandle(trade) || (isInside && this.#execution.entryCandleExit !== true)) return false;
    const stop = trade.trailStop;
    if (side * this.close > side * stop || trade.stopOn(side) !== stop) return false;
    return this.#fills.exitAtStop(trade, stop, side > 0 ? FROM_ABOVE : FROM_BELOW);
  }

  #worst(): number {
    return this.#ledger.side > 0 ? this.low : this.high;
  }

  /** True if the worst price of this step certainly comes after the entries of all open trades. */
  #isWorstSeen(): boolean {
    const { open, side } = this.#ledger;
    const towardsWorst = side > 0 ? FROM_ABOVE : FROM_BELOW;
    for (let row = open.count - 1; row >= 0 && open.at(row).entryStep === this.#step; row--) {
      const { entryKind: kind, entryPath } = open.at(row);
      if (entryPath !== BEFORE_ALL && kind !== AT_OPEN && kind !== towardsWorst) return false;
    }
    return true;
  }

  /** True if this candle may fill any exit of a trade. */
  #seesCandle(trade: OpenTrade): boolean {
    return this.#execution.entryCandleExit !== false || trade.entryIndex !== this.#i;
  }

  /** True if all of this step comes after a trade's entry. */
  #seesAll(trade: OpenTrade): boolean {
    if (trade.isExiting || !this.#seesCandle(trade)) return false;
    return trade.entryStep !== this.#step || trade.entryPath === BEFORE_ALL;
  }
}
