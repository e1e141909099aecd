import { exitTrade } from "./exits.ts";
import { fillOrder } from "./entries.ts";
import { A_MARGIN_CALL, A_STOP, A_TARGET, AN_ORDER, type Event, NextEvents } from "./next_events.ts";
import { callMargin, isWorstSeen, liquidate } from "./margin_calls.ts";
import { AT_OPEN, BEFORE_ALL, FROM_ABOVE, FROM_BELOW, NO_EXITS, type OpenTrade } from "./open_trades.ts";
import { isMarginCall } from "./rules/margin.ts";
import { opensBeyondLimit, opensBeyondStop, reachesLimit, reachesStop } from "./rules/triggers.ts";
import type { Simulation } from "./simulation.ts";
import { LIMIT, MARKET, STOP_LIMIT } from "./strategy.ts";
import { EXIT_REASONS } from "./trade_columns.ts";
import type { WorkingOrder } from "./working_order.ts";

const STOP_LOSS = EXIT_REASONS.indexOf("stop_loss");
const TAKE_PROFIT = EXIT_REASONS.indexOf("take_profit");
const TRAILING_STOP = EXIT_REASONS.indexOf("trailing_stop");

/**
 * What happens inside a candle, where only four prices are known.
 *
 * The open comes first and the close last; high and low lie between in an unknown order. So:
 * 1. What the open has already passed is filled at the open: stops and targets of open trades first, oldest trade first
 *    (a stop before a target), then orders in order of placement.
 * 2. Below the open, prices are reached in falling order, above it in rising order: that much is certain. Which side comes
 *    first is not: `bothTouched` says. `stop_first` prefers stops of open trades, then orders, then targets;
 *    `target_first` the reverse; two orders keep their order of placement. `nearest` goes first to the extreme (high or
 *    low) that is nearer to the open, the low when they are as near, and then to the other.
 * 3. A trade that was opened inside the candle was reached from one side. What lies further on in that direction certainly
 *    comes after the entry; what lies on the other side does only if the close is there or beyond. Only what is certain
 *    is filled. A stop further on is filled, unless targets come first and the close proves the target; a target further
 *    on is filled only if the candle never touched the stop, or targets come first. What is not filled waits for the next
 *    candle. What the price of the entry has already passed is filled at that price, a stop before a target.
 *    (entryCandleExit `same_direction`: only the target of a stop order, and only if the stop was not touched.)
 * 4. Trailing stops then move after the candle's best price (the part known to come after the entry). A close beyond the
 *    moved stop proves that it was hit on the way back: it fills at its own price.
 * 5. A margin call liquidates at the worst price, after whatever lies on the way there. With what lies on the other side
 *    it is as with a stop: `bothTouched` says which comes first. Of a price that may have come before an entry nothing is
 *    known; then the close alone calls.
 *
 * A trade is ambiguous when its target lies within a candle in which its stop lies, too, or a margin call is due, and the
 * open did not decide.
 */
export class Walk {
  readonly #sim: Simulation;
  readonly #next: NextEvents;
  /** Whether the last step had events on both sides of the open. */
  isContested = false;
  /** The prices of the candle that is walked next, or of the finer candle within it. */
  open = NaN;
  high = NaN;
  low = NaN;
  close = NaN;
  #i = 0;
  #penetrate = false;

  constructor(sim: Simulation) {
    this.#sim = sim;
    this.#next = new NextEvents(sim.execution.bothTouched);
    this.#penetrate = sim.execution.limitFill === "penetrate";
  }

  /** @param i Index of the candle to which fills belong. @param isFirst Whether `open` is that candle's own open. */
  step(i: number, isFirst: boolean): void {
    this.#i = i;
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
    callMargin(this.#sim, i, this.#worst(), this.close);
    this.#sim.step++;
  }

  /** Rule 1. */
  #fillOpened(isFirst: boolean): void {
    const { ledger: { open }, book } = this.#sim;
    for (let row = 0; row < open.count;) row = this.#exitOpened(open.at(row), isFirst) ? row : row + 1;
    for (let n = 0; n < book.workingOrders;) {
      const before = book.workingOrders;
      const order = book.at(n);
      const { number } = order;
      this.#fillOpenedOrder(order, isFirst);
      n = book.workingOrders === before ? n + 1 : book.rowAfter(number);
    }
    // An order filled at the open may have brought guards that the open has passed, too.
    for (let row = 0; row < open.count;) row = this.#exitOpened(open.at(row), isFirst) ? row : row + 1;
  }

  /** Closes a trade whose stop or target the open has passed; true when it is gone. */
  #exitOpened(trade: OpenTrade, isFirst: boolean): boolean {
    const { ledger: { side }, execution } = this.#sim;
    const price = this.open;
    if (!this.#seesAll(trade)) return false;
    const stop = trade.stopOn(side);
    const kind = isFirst ? AT_OPEN : side > 0 ? FROM_ABOVE : FROM_BELOW;
    if (opensBeyondStop(-side, stop, price)) return this.#exitAtStop(trade, price, kind);
    if (!opensBeyondLimit(-side, trade.takeProfit, price, this.#penetrate)) return false;
    if (!execution.openDecides && reachesStop(-side, stop, this.high, this.low)) {
      return this.#exitAtStop(trade, stop, kind);
    }
    this.#exitAtTarget(trade, price, kind);
    return true;
  }

  #fillOpenedOrder(order: WorkingOrder, isFirst: boolean): void {
    const { type, side, limitPrice: limit } = order;
    const price = this.open;
    if (type === MARKET || order.from > this.#i) return;
    if (type !== LIMIT && !opensBeyondStop(side, order.stopPrice, price)) return;
    if (type === STOP_LIMIT) {
      if (side * price > side * limit) return this.#becomeLimit(order, this.#i);
    } else if (type === LIMIT && !opensBeyondLimit(side, limit, price, this.#penetrate)) return;
    const risesToIt = (type === LIMIT) === (side < 0);
    const kind = isFirst ? AT_OPEN : risesToIt ? FROM_BELOW : FROM_ABOVE;
    const isFree = this.#sim.execution.entryCandleExit !== "same_direction";
    this.#fill(order, price, kind, isFree ? BEFORE_ALL : this.#pathOf(order, risesToIt));
  }

  /** Fills an order; what the price of an entry inside has already passed is filled at that price, too. */
  #fill(order: WorkingOrder, level: number, kind: number, path: number): void {
    const { ledger } = this.#sim;
    const { opened } = ledger;
    this.#sim.fill.at(this.#i, kind, level, order.slips);
    fillOrder(this.#sim, order, path);
    if (path !== BEFORE_ALL && ledger.opened > opened) {
      this.#exitPassed(ledger.open.at(ledger.open.count - 1), level, kind);
    }
  }

  #exitPassed(trade: OpenTrade, level: number, kind: number): void {
    const { ledger: { side }, execution } = this.#sim;
    if (!this.#seesCandle(trade)) return;
    const stop = trade.stopOn(side);
    const isFree = execution.entryCandleExit === true;
    if (isFree && opensBeyondStop(-side, stop, level)) return void this.#exitAtStop(trade, level, kind);
    if (!opensBeyondLimit(-side, trade.takeProfit, level, this.#penetrate)) return;
    const isAhead = trade.entryPath === side;
    if (!isFree && (!isAhead || reachesStop(-side, stop, this.high, this.low))) return;
    this.#exitAtTarget(trade, level, kind);
  }

  /** Finds the nearest event on either side of the open, and flags the trades that are ambiguous. */
  #look(): void {
    const { ledger, ledger: { open, side }, book, execution } = this.#sim;
    const worst = this.#worst();
    const isCalled = isMarginCall(execution, ledger, worst);
    this.#next.clear();
    for (let row = 0; row < open.count; row++) this.#lookAtTrade(open.at(row), row, side, isCalled);
    for (let n = 0; n < book.workingOrders; n++) this.#lookAtOrder(book.at(n), n);
    // Where targets come first, all else that can happen comes before the call.
    if (!isCalled || execution.bothTouched === "target_first" || !isWorstSeen(this.#sim)) return;
    this.#next.offer(-side, worst, A_MARGIN_CALL, 0);
  }

  #lookAtOrder(order: WorkingOrder, n: number): void {
    const { type, side, limitPrice, stopPrice } = order;
    if (type === MARKET || order.from > this.#i) return;
    if (type === LIMIT) {
      if (reachesLimit(side, limitPrice, this.high, this.low, this.#penetrate)) {
        this.#next.offer(-side, limitPrice, AN_ORDER, n);
      }
    } else if (reachesStop(side, stopPrice, this.high, this.low)) this.#next.offer(side, stopPrice, AN_ORDER, n);
  }

  #lookAtTrade(trade: OpenTrade, row: number, side: number, isCalled: boolean): void {
    const { execution, step } = this.#sim;
    if (trade.isExiting || !this.#seesCandle(trade)) return;
    const stop = trade.stopOn(side);
    const target = trade.takeProfit;
    const stopTouched = reachesStop(-side, stop, this.high, this.low);
    const targetTouched = reachesLimit(-side, target, this.high, this.low, this.#penetrate);
    const mayBeGone = stopTouched || isCalled;
    if (mayBeGone && targetTouched) trade.isAmbiguous = true;
    const path = trade.entryStep === step ? trade.entryPath : BEFORE_ALL;
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
    const { ledger: { open }, book } = this.#sim;
    const { level, what, row } = event;
    if (what === A_MARGIN_CALL) liquidate(this.#sim, this.#i, level);
    else if (what === A_STOP) this.#exitAtStop(open.at(row), level, kind);
    else if (what === A_TARGET) this.#exitAtTarget(open.at(row), level, kind);
    else {
      const order = book.at(row);
      const isBeyond = order.side * (level - order.limitPrice) > 0;
      if (order.type === STOP_LIMIT && isBeyond) this.#becomeLimit(order, this.#i + 1);
      else this.#fill(order, level, kind, this.#pathOf(order, kind === FROM_BELOW));
    }
  }

  /** Where a trade stands that an order opens on the way up or down; `same_direction` goes by the type of the order. */
  #pathOf(order: WorkingOrder, isRising: boolean): number {
    const hasLimit = !Number.isNaN(order.limitPrice);
    if (this.#sim.execution.entryCandleExit === "same_direction" && hasLimit) return NO_EXITS;
    return isRising ? 1 : -1;
  }

  /** Closes a trade at its stop; true when it is gone. What volume does not allow is closed at the next opens. */
  #exitAtStop(trade: OpenTrade, price: number, kind: number): boolean {
    const { quantity } = trade;
    const reason = trade.stopOn(this.#sim.ledger.side) === trade.stopLoss ? STOP_LOSS : TRAILING_STOP;
    this.#sim.fill.at(this.#i, kind, price, true);
    exitTrade(this.#sim, trade, quantity, reason);
    if (this.#sim.fill.units === quantity) return true;
    trade.exiting = reason;
    // Even when nothing could be closed: the next open must be looked at.
    this.#sim.dirty = true;
    return false;
  }

  #exitAtTarget(trade: OpenTrade, price: number, kind: number): void {
    this.#sim.fill.at(this.#i, kind, price, false);
    exitTrade(this.#sim, trade, trade.quantity, TAKE_PROFIT);
  }

  #becomeLimit(order: WorkingOrder, from: number): void {
    order.type = LIMIT;
    order.from = from;
    this.#sim.dirty = true;
  }

  /** Rule 3, the last sentence but two: what the close proves about trades that were opened inside. */
  #settleEntries(): void {
    const { ledger: { open }, execution } = this.#sim;
    if (execution.entryCandleExit !== true) return;
    for (let row = 0; row < open.count;) row = this.#settleEntry(open.at(row)) ? row : row + 1;
  }

  /** True when the trade is gone. */
  #settleEntry(trade: OpenTrade): boolean {
    const { ledger: { side }, step } = this.#sim;
    const { entryPath: path, takeProfit: target } = trade;
    if (trade.entryStep !== step || path === BEFORE_ALL || trade.isExiting) return false;
    const stop = trade.stopOn(side);
    if (path === side) {
      if (!reachesStop(-side, stop, this.close, this.close)) return false;
      return this.#exitAtStop(trade, stop, -side > 0 ? FROM_BELOW : FROM_ABOVE);
    }
    if (!this.#closesAtTarget(target, side)) return false;
    this.#exitAtTarget(trade, target, side > 0 ? FROM_BELOW : FROM_ABOVE);
    return true;
  }

  #closesAtTarget(target: number, side: number): boolean {
    return reachesLimit(-side, target, this.close, this.close, this.#penetrate);
  }

  /** Rule 4. */
  #trail(): void {
    const { ledger: { open } } = this.#sim;
    for (let row = 0; row < open.count;) row = this.#trailTrade(open.at(row)) ? row : row + 1;
  }

  /** True when the trade is gone. */
  #trailTrade(trade: OpenTrade): boolean {
    const { ledger: { side }, execution, step } = this.#sim;
    if (Number.isNaN(trade.trailStop) || trade.isExiting) return false;
    const isInside = trade.entryStep === step && trade.entryPath !== BEFORE_ALL;
    const awayFromBest = side > 0 ? FROM_ABOVE : FROM_BELOW;
    const mayBeBefore = isInside && trade.entryKind === awayFromBest;
    trade.trail(side, mayBeBefore ? this.close : side > 0 ? this.high : this.low);
    this.#sim.dirty = true;
    if (!this.#seesCandle(trade) || (isInside && execution.entryCandleExit !== true)) return false;
    const stop = trade.trailStop;
    if (side * this.close > side * stop || trade.stopOn(side) !== stop) return false;
    return this.#exitAtStop(trade, stop, side > 0 ? FROM_ABOVE : FROM_BELOW);
  }

  #worst(): number {
    return this.#sim.ledger.side > 0 ? this.low : this.high;
  }

  /** Whether any exit of a trade may be filled in this candle at all. */
  #seesCandle(trade: OpenTrade): boolean {
    return this.#sim.execution.entryCandleExit !== false || trade.entryIndex !== this.#i;
  }

  /** Whether the whole of this step lies after a trade's entry. */
  #seesAll(trade: OpenTrade): boolean {
    if (trade.isExiting || !this.#seesCandle(trade)) return false;
    return trade.entryStep !== this.#sim.step || trade.entryPath === BEFORE_ALL;
  }
}
