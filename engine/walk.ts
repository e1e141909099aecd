import * as book from "./book.ts";
import { exitTrade } from "./exits.ts";
import { fillOrder } from "./fill.ts";
import { A_STOP, A_TARGET, AN_ORDER, type Event, NextEvents } from "./next_events.ts";
import * as open from "./open_trades.ts";
import { opensBeyondLimit, opensBeyondStop, reachesLimit, reachesStop } from "./rules/triggers.ts";
import type { Simulation } from "./simulation.ts";
import { LIMIT, MARKET, STOP_LIMIT } from "./strategy.ts";
import { EXIT_REASONS } from "./trades.ts";

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
 *
 * A trade is ambiguous when its stop and its target both lie within one candle and the open did not decide.
 */
export class Walk {
  readonly #sim: Simulation;
  readonly #next: NextEvents;
  /** Whether the last step had events on both sides of the open. */
  isContested = false;
  #i = 0;
  #openPrice = NaN;
  #high = NaN;
  #low = NaN;
  #close = NaN;
  #penetrate = false;

  constructor(sim: Simulation) {
    this.#sim = sim;
    this.#next = new NextEvents(sim.execution.bothTouched);
    this.#penetrate = sim.execution.limitFill === "penetrate";
  }

  /**
   * Walks one candle, or one finer candle within it.
   *
   * @param i Index of the candle to which fills belong. @param isFirst Whether `openPrice` is that candle's own open.
   */
  step(i: number, openPrice: number, high: number, low: number, close: number, isFirst: boolean): void {
    this.#i = i;
    this.#openPrice = openPrice;
    this.#high = high;
    this.#low = low;
    this.#close = close;
    this.isContested = false;
    this.#fillOpened(isFirst);
    for (;;) {
      this.#look();
      const event = this.#next.first(openPrice, high, low);
      if (event === null) break;
      this.isContested ||= this.#next.areOnBothSides();
      this.#take(event, event === this.#next.down ? open.FROM_ABOVE : open.FROM_BELOW);
    }
    this.#settleEntries();
    this.#trail();
    this.#sim.step++;
  }

  /** Rule 1. */
  #fillOpened(isFirst: boolean): void {
    const { ledger: { open: trades } } = this.#sim;
    for (let row = 0; row < trades.count;) row = this.#exitOpened(row, isFirst) ? row : row + 1;
    const orders = this.#sim.book;
    for (let row = 0; row < orders.count;) {
      const before = orders.count;
      this.#fillOpenedOrder(row, isFirst);
      if (orders.count === before) row++;
    }
    // An order filled at the open may have brought guards that the open has passed, too.
    for (let row = 0; row < trades.count;) row = this.#exitOpened(row, isFirst) ? row : row + 1;
  }

  /** Closes a trade whose stop or target the open has passed; true when its row is gone. */
  #exitOpened(row: number, isFirst: boolean): boolean {
    const { ledger: { open: trades, side }, execution } = this.#sim;
    const price = this.#openPrice;
    if (!this.#seesAll(row)) return false;
    const stop = trades.stopOf(row, side);
    const kind = isFirst ? open.AT_OPEN : side > 0 ? open.FROM_ABOVE : open.FROM_BELOW;
    if (opensBeyondStop(-side, stop, price)) return this.#exitAtStop(row, price, kind);
    if (!opensBeyondLimit(-side, trades.get(row, open.TAKE_PROFIT), price, this.#penetrate)) return false;
    if (!execution.openDecides && reachesStop(-side, stop, this.#high, this.#low)) {
      return this.#exitAtStop(row, stop, kind);
    }
    exitTrade(this.#sim, row, trades.get(row, open.QUANTITY), this.#i, kind, price, false, TAKE_PROFIT);
    return true;
  }

  #fillOpenedOrder(row: number, isFirst: boolean): void {
    const orders = this.#sim.book;
    const price = this.#openPrice;
    const type = orders.get(row, book.TYPE);
    const side = orders.get(row, book.SIDE);
    if (type === MARKET || orders.get(row, book.FROM) > this.#i) return;
    if (type !== LIMIT && !opensBeyondStop(side, orders.get(row, book.STOP_PRICE), price)) return;
    const limit = orders.get(row, book.LIMIT_PRICE);
    if (type === STOP_LIMIT) {
      if (side * price > side * limit) return this.#becomeLimit(row, this.#i);
    } else if (type === LIMIT && !opensBeyondLimit(side, limit, price, this.#penetrate)) return;
    const risesToIt = (type === LIMIT) === (side < 0);
    const kind = isFirst ? open.AT_OPEN : risesToIt ? open.FROM_BELOW : open.FROM_ABOVE;
    const isFree = this.#sim.execution.entryCandleExit !== "same_direction";
    this.#fill(row, price, kind, isFree ? open.BEFORE_ALL : this.#pathOf(row, risesToIt));
  }

  /** Fills an order; what the price of an entry inside has already passed is filled at that price, too. */
  #fill(row: number, level: number, kind: number, path: number): void {
    const { ledger: { open: trades } } = this.#sim;
    const { opened } = trades;
    fillOrder(this.#sim, row, this.#i, level, kind, path);
    if (path !== open.BEFORE_ALL && trades.opened > opened) this.#exitPassed(trades.count - 1, level, kind);
  }

  #exitPassed(row: number, level: number, kind: number): void {
    const { ledger: { open: trades, side }, execution } = this.#sim;
    if (!this.#seesCandle(row)) return;
    const stop = trades.stopOf(row, side);
    const isFree = execution.entryCandleExit === true;
    if (isFree && opensBeyondStop(-side, stop, level)) return void this.#exitAtStop(row, level, kind);
    if (!opensBeyondLimit(-side, trades.get(row, open.TAKE_PROFIT), level, this.#penetrate)) return;
    const isAhead = trades.get(row, open.ENTRY_PATH) === side;
    if (!isFree && (!isAhead || reachesStop(-side, stop, this.#high, this.#low))) return;
    exitTrade(this.#sim, row, trades.get(row, open.QUANTITY), this.#i, kind, level, false, TAKE_PROFIT);
  }

  /** Finds the nearest event on either side of the open, and flags trades whose stop and target are both in the candle. */
  #look(): void {
    const { ledger: { open: trades, side }, book: orders } = this.#sim;
    this.#next.clear();
    for (let row = 0; row < trades.count; row++) this.#lookAtTrade(row, side);
    for (let row = 0; row < orders.count; row++) {
      const type = orders.get(row, book.TYPE);
      if (type === MARKET || orders.get(row, book.FROM) > this.#i) continue;
      const buys = orders.get(row, book.SIDE);
      if (type === LIMIT) {
        const limit = orders.get(row, book.LIMIT_PRICE);
        if (reachesLimit(buys, limit, this.#high, this.#low, this.#penetrate)) {
          this.#next.offer(-buys, limit, AN_ORDER, row);
        }
      } else {
        const stop = orders.get(row, book.STOP_PRICE);
        if (reachesStop(buys, stop, this.#high, this.#low)) this.#next.offer(buys, stop, AN_ORDER, row);
      }
    }
  }

  #lookAtTrade(row: number, side: number): void {
    const { ledger: { open: trades }, execution, step } = this.#sim;
    if (trades.get(row, open.EXITING) >= 0 || !this.#seesCandle(row)) return;
    const stop = trades.stopOf(row, side);
    const target = trades.get(row, open.TAKE_PROFIT);
    const stopTouched = reachesStop(-side, stop, this.#high, this.#low);
    const targetTouched = reachesLimit(-side, target, this.#high, this.#low, this.#penetrate);
    if (stopTouched && targetTouched) trades.set(row, open.AMBIGUOUS, 1);
    const path = trades.get(row, open.ENTRY_STEP) === step ? trades.get(row, open.ENTRY_PATH) : open.BEFORE_ALL;
    if (path === open.BEFORE_ALL) {
      if (stopTouched) this.#next.offer(-side, stop, A_STOP, row);
      if (targetTouched) this.#next.offer(side, target, A_TARGET, row);
      return;
    }
    const isFree = execution.entryCandleExit === true;
    const targetsFirst = isFree && execution.bothTouched === "target_first";
    if (path === side) {
      if (targetTouched && (!stopTouched || targetsFirst)) this.#next.offer(side, target, A_TARGET, row);
    } else if (isFree && stopTouched && !(targetsFirst && this.#closesAtTarget(target, side))) {
      this.#next.offer(-side, stop, A_STOP, row);
    }
  }

  #take(event: Event, kind: number): void {
    const { ledger: { open: trades }, book: orders } = this.#sim;
    const { level, what, row } = event;
    if (what === A_STOP) {
      this.#exitAtStop(row, level, kind);
    } else if (what === A_TARGET) {
      exitTrade(this.#sim, row, trades.get(row, open.QUANTITY), this.#i, kind, level, false, TAKE_PROFIT);
    } else {
      const isBeyond = orders.get(row, book.SIDE) * (level - orders.get(row, book.LIMIT_PRICE)) > 0;
      if (orders.get(row, book.TYPE) === STOP_LIMIT && isBeyond) this.#becomeLimit(row, this.#i + 1);
      else this.#fill(row, level, kind, this.#pathOf(row, kind === open.FROM_BELOW));
    }
  }

  /** Where a trade stands that an order opens on the way up or down; `same_direction` goes by the type of the order. */
  #pathOf(row: number, isRising: boolean): number {
    const { execution, book: orders } = this.#sim;
    const hasLimit = !Number.isNaN(orders.get(row, book.LIMIT_PRICE));
    if (execution.entryCandleExit === "same_direction" && hasLimit) return open.NO_EXITS;
    return isRising ? 1 : -1;
  }

  /** Closes a trade at its stop; true when its row is gone. What volume does not allow is closed at the next opens. */
  #exitAtStop(row: number, price: number, kind: number): boolean {
    const { ledger: { open: trades, side } } = this.#sim;
    const isFixed = trades.stopOf(row, side) === trades.get(row, open.STOP_LOSS);
    const reason = isFixed ? STOP_LOSS : TRAILING_STOP;
    const units = trades.get(row, open.QUANTITY);
    if (exitTrade(this.#sim, row, units, this.#i, kind, price, true, reason) === units) return true;
    trades.set(row, open.EXITING, reason);
    // Even when nothing could be closed: the next open must be looked at.
    this.#sim.dirty = true;
    return false;
  }

  #becomeLimit(row: number, from: number): void {
    this.#sim.book.set(row, book.TYPE, LIMIT);
    this.#sim.book.set(row, book.FROM, from);
    this.#sim.dirty = true;
  }

  /** Rule 3, the last sentence but two: what the close proves about trades that were opened inside. */
  #settleEntries(): void {
    const { ledger: { open: trades }, execution } = this.#sim;
    if (execution.entryCandleExit !== true) return;
    for (let row = 0; row < trades.count;) row = this.#settleEntry(row) ? row : row + 1;
  }

  /** True when the trade's row is gone. */
  #settleEntry(row: number): boolean {
    const { ledger: { open: trades, side }, step } = this.#sim;
    const path = trades.get(row, open.ENTRY_PATH);
    if (trades.get(row, open.ENTRY_STEP) !== step || path === open.BEFORE_ALL) return false;
    if (trades.get(row, open.EXITING) >= 0) return false;
    const target = trades.get(row, open.TAKE_PROFIT);
    const stop = trades.stopOf(row, side);
    if (path === side) {
      if (!reachesStop(-side, stop, this.#close, this.#close)) return false;
      return this.#exitAtStop(row, stop, -side > 0 ? open.FROM_BELOW : open.FROM_ABOVE);
    }
    if (!this.#closesAtTarget(target, side)) return false;
    const kind = side > 0 ? open.FROM_BELOW : open.FROM_ABOVE;
    exitTrade(this.#sim, row, trades.get(row, open.QUANTITY), this.#i, kind, target, false, TAKE_PROFIT);
    return true;
  }

  #closesAtTarget(target: number, side: number): boolean {
    return reachesLimit(-side, target, this.#close, this.#close, this.#penetrate);
  }

  /** Rule 4. */
  #trail(): void {
    const { ledger: { open: trades } } = this.#sim;
    for (let row = 0; row < trades.count;) row = this.#trailTrade(row) ? row : row + 1;
  }

  /** True when the trade's row is gone. */
  #trailTrade(row: number): boolean {
    const { ledger: { open: trades, side }, execution, step } = this.#sim;
    if (Number.isNaN(trades.get(row, open.TRAIL_STOP)) || trades.get(row, open.EXITING) >= 0) return false;
    const isInside = trades.get(row, open.ENTRY_STEP) === step && trades.get(row, open.ENTRY_PATH) !== open.BEFORE_ALL;
    const awayFromBest = side > 0 ? open.FROM_ABOVE : open.FROM_BELOW;
    const mayBeBefore = isInside && trades.get(row, open.ENTRY_KIND) === awayFromBest;
    trades.trail(row, side, mayBeBefore ? this.#close : side > 0 ? this.#high : this.#low);
    this.#sim.dirty = true;
    if (!this.#seesCandle(row) || (isInside && execution.entryCandleExit !== true)) return false;
    const stop = trades.get(row, open.TRAIL_STOP);
    if (side * this.#close > side * stop || trades.stopOf(row, side) !== stop) return false;
    return this.#exitAtStop(row, stop, side > 0 ? open.FROM_ABOVE : open.FROM_BELOW);
  }

  /** Whether any exit of a trade may be filled in this candle at all. */
  #seesCandle(row: number): boolean {
    const { ledger: { open: trades }, execution } = this.#sim;
    return execution.entryCandleExit !== false || trades.get(row, open.ENTRY_INDEX) !== this.#i;
  }

  /** Whether the whole of this step lies after a trade's entry. */
  #seesAll(row: number): boolean {
    const { ledger: { open: trades }, step } = this.#sim;
    if (trades.get(row, open.EXITING) >= 0 || !this.#seesCandle(row)) return false;
    return trades.get(row, open.ENTRY_STEP) !== step || trades.get(row, open.ENTRY_PATH) === open.BEFORE_ALL;
  }
}
