import type { FillRecord } from "../trade_watch.ts";
import type { TradingAccount } from "../trading_account.ts";
import { type OrderBook, REFUSED } from "../strategy.ts";
import {
  type EachMarket,
  type Period,
  type PortfolioAccount,
  type PortfolioOrders,
  type PortfolioStrategy,
  WEIGHT_MAX,
} from "./portfolio.ts";
import type { Positions } from "./positions.ts";
import type { Seat } from "./seat.ts";
import type { PortfolioPlan } from "./timeline.ts";
import { DAY_MS } from "../time/durations.ts";

/** The strategy or strategies that decide at a row, and the markets on which they have acted. */
export interface Decider {
  /** The seats whose strategies are asked in a row, as they see it: one strategy for all has all of them, or none. */
  look(row: number, instant: number, closing: readonly Seat[]): readonly Seat[];
  /** Decides after the marks of a row. `closing` are the seats whose candle has just closed. Returns the seats with new orders or targets. */
  decide(row: number, instant: number, closing: readonly Seat[]): readonly Seat[];
  /** The candle of a seat at which it has to be asked next, whatever happens to its position; Infinity: none. */
  nextOf(seat: Seat): number;
}

/** One strategy for each market. */
export class EachDecides implements Decider {
  readonly #positions: Positions;
  readonly #isRanked: boolean;
  readonly #asked: Seat[] = [];

  constructor(seats: readonly Seat[], { rank }: EachMarket, positions: Positions) {
    this.#positions = positions;
    this.#isRanked = rank === "score";
    for (const seat of seats) seat.next = Math.max(seat.firstIndex, (seat.strategy?.warmup ?? 1) - 1);
  }

  nextOf(seat: Seat): number {
    // After a decision the next one is looked for at the following candle.
    return Math.max(seat.next, seat.i + 1);
  }

  look(_row: number, _instant: number, closing: readonly Seat[]): readonly Seat[] {
    const asked = this.#asked;
    asked.length = 0;
    for (const seat of closing) {
      this.#findNext(seat);
      if (seat.i >= seat.next) asked.push(seat);
    }
    if (this.#isRanked) asked.sort((a, b) => scoreOf(b) - scoreOf(a) || a.index - b.index);
    return asked;
  }

  decide(row: number, instant: number, closing: readonly Seat[]): readonly Seat[] {
    const asked = this.look(row, instant, closing);
    for (const seat of asked) {
      const { ledger, book } = seat.market;
      this.#positions.bind(seat);
      ledger.isMember = seat.isMemberAt(instant);
      book.index = seat.i;
      seat.strategy?.decide(seat.i, ledger, book);
    }
    return asked;
  }

  /** Asks a strategy that names its next decision for it again: after each decision, and once its position differs. run.ts does the same. */
  #findNext(seat: Seat): void {
    const { strategy, i, quantity } = seat;
    if (strategy?.nextDecision === undefined) return;
    if (i <= seat.next && quantity === seat.quantityTold) return;
    seat.quantityTold = quantity;
    this.#positions.bind(seat);
    seat.next = strategy.nextDecision(i, seat.market.ledger);
  }
}

function scoreOf({ strategy, i }: Seat): number {
  const score = strategy?.score?.(i) ?? NaN;
  return Number.isNaN(score) ? -Infinity : score;
}

/** One strategy for all markets. */
export class PortfolioDecides implements Decider, PortfolioOrders, PortfolioAccount {
  readonly #seats: readonly Seat[];
  readonly #strategy: PortfolioStrategy;
  readonly #account: TradingAccount;
  readonly #positions: Positions;
  readonly #asks: Uint8Array;
  readonly #isAligned: boolean;
  readonly #touched = new Set<Seat>();
  #fills: FillRecord[] | null = null;
  #row = 0;
  #instant = NaN;

  constructor(
    seats: readonly Seat[],
    strategy: PortfolioStrategy,
    account: TradingAccount,
    positions: Positions,
    { asks, timeline }: PortfolioPlan,
  ) {
    this.#seats = seats;
    this.#strategy = strategy;
    this.#account = account;
    this.#positions = positions;
    this.#asks = asks;
    this.#isAligned = timeline.isAligned;
  }

  get cash(): number {
    return this.#account.cash;
  }

  get equity(): number {
    return this.#account.equity;
  }

  get initialBalance(): number {
    return this.#account.initialBalance;
  }

  nextOf(): number {
    return Infinity;
  }

  look(row: number, instant: number): readonly Seat[] {
    if (this.#asks[row] === 0) return [];
    for (const seat of this.#seats) {
      if (seat.isActive) seat.see(row);
      else seat.follow(row, instant, this.#isAligned);
      seat.hasClosed = seat.i >= seat.firstIndex && seat.closes.rowOf(seat.i) === row;
      seat.isMember = seat.isMemberAt(instant);
      seat.weight = seat.isHeld ? seat.value / this.equity : 0;
    }
    return this.#seats;
  }

  decide(row: number, instant: number): readonly Seat[] {
    if (this.look(row, instant).length === 0) return [];
    this.#row = row;
    this.#instant = instant;
    this.#touched.clear();
    this.#strategy.decide(instant, this.#seats, this, this);
    return [...this.#touched].sort((a, b) => a.index - b.index);
  }

  target(weights: Float64Array, minTrade = 0, tag: string | null = null): void {
    const seats = this.#seats;
    if (weights.length !== seats.length) {
      throw new RangeError(`Cannot target ${weights.length} weights: there are ${seats.length} markets`);
    }
    if (!(minTrade >= 0)) throw new RangeError(`Cannot leave differences below ${minTrade}: minTrade is 0 or more`);
    for (const seat of seats) {
      const weight = weights[seat.index]!;
      if (Math.abs(weight) > WEIGHT_MAX) {
        throw new RangeError(
          `Cannot target a weight of ${weight} for ${seat.id}: it is at most ${WEIGHT_MAX} times equity`,
        );
      }
      this.#withdraw(seat);
      // A market that is not held and gets no weight needs no look at its next open.
      const isIdle = weight === 0 && seat.quantity === 0;
      seat.target = isIdle ? NaN : weight;
      seat.minTrade = minTrade;
      seat.tag = tag;
      if (!isIdle && !Number.isNaN(weight)) this.#touch(seat);
    }
  }

  of(market: number): OrderBook {
    const seat = this.#seats[market];
    if (seat === undefined) throw new RangeError(`Cannot order in market ${market}: there are ${this.#seats.length}`);
    const { ledger, book } = seat.market;
    this.#touch(seat);
    this.#positions.bind(seat);
    ledger.isMember = seat.isMemberAt(this.#instant);
    book.index = seat.opened;
    return book;
  }

  watchFills(): FillRecord[] {
    if (this.#fills !== null) return this.#fills;
    const fills: FillRecord[] = [];
    for (const { market } of this.#seats) market.book.shareFills(fills);
    return this.#fills = fills;
  }

  /** Notes that a market may have new orders: a candle that has begun unnoticed is too late for them. */
  #touch(seat: Seat): void {
    if (seat.opened === seat.i) seat.follow(this.#row, this.#instant, this.#isAligned);
    this.#touched.add(seat);
  }

  /** Takes back a target that has not been filled, and the rest of one that has been in part. */
  #withdraw(seat: Seat): void {
    seat.target = NaN;
    if (seat.targetOrder === REFUSED) return;
    if (seat.market.book.cancel(seat.targetOrder)) this.#touch(seat);
    seat.targetOrder = REFUSED;
  }
}

/**
 * The rows in which a portfolio strategy is asked: the first of each period, and the first at which the warm-up is over.
 *
 * @param rows `dates`: 00:00 UTC of each row's trading day. @param warm The first row after the warm-up.
 */
export function findAsks(
  { every, later = [] }: Pick<PortfolioStrategy, "every" | "later">,
  { dates, instant }: { readonly dates: Float64Array; readonly instant: Float64Array },
  warm: number,
): Uint8Array {
  const asks = new Uint8Array(dates.length);
  let [own, next] = [every, 0];
  let before = NaN;
  for (let row = 0; row < asks.length; row++) {
    let isFirst = row === warm;
    for (; next < later.length && instant[row]! > later[next]!.after; next++) {
      [own, isFirst] = [later[next]!.every, true];
    }
    if (row < warm) continue;
    const period = own === null ? NaN : periodOf(own, dates[row]!);
    asks[row] = isFirst || period !== before ? 1 : 0;
    before = period;
  }
  return asks;
}

/** The number of the period that a date lies in. Weeks begin on Monday. */
function periodOf(every: Period, dateMs: number): number {
  const day = Math.floor(dateMs / DAY_MS);
  // 1970-01-01 was a Thursday.
  if (every === "week") return Math.floor((day + 3) / 7);
  if (every === "day") return day;
  const date = new Date(dateMs);
  const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
  return every === "month" ? month : Math.floor(month / 3);
}
