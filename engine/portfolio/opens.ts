import type { Rules } from "../rules_of_run.ts";
import { BY_EQUITY_FRACTION, BY_UNITS, newDraft, REFUSED } from "../strategy.ts";
import type { Positions } from "./positions.ts";
import type { Seat } from "./seat.ts";

/**
 * The opens of candles that begin at one instant, in several markets with one account.
 *
 * First time stops and stops that the open has passed, then orders that reduce, then the others in order of placement, and last
 * the increases of targets. Within a market the order of a run over one market is kept: its orders are filled in order of
 * placement, before stops that the open has passed.
 */
export class Opens {
  readonly #rules: Rules;
  readonly #positions: Positions;
  readonly #draft = { ...newDraft(), sizeBy: BY_UNITS };

  constructor(rules: Rules, positions: Positions) {
    this.#rules = rules;
    this.#positions = positions;
  }

  /** Fills what is due at the open of each seat's newest candle. Positions are valued at their marks before. */
  fill(seats: readonly Seat[]): void {
    for (const seat of seats) this.#closeDue(seat);
    // Every weight is of the same equity.
    const { equity } = this.#positions;
    for (const seat of seats) this.#fillLeadingReductions(seat);
    for (const seat of seats) this.#reduceToTarget(seat, equity);
    this.#fillOthers(seats);
    this.#increaseToTargets(seats, equity);
  }

  #closeDue(seat: Seat): void {
    const { market, opened } = seat;
    if (!market.ledger.hasGuards) return;
    this.#positions.bind(seat);
    market.closeDue(opened);
    if (market.book.markets === 0) market.exitPassed(opened);
    this.#positions.refresh(seat);
  }

  /** Fills the oldest orders of a market as long as they reduce. */
  #fillLeadingReductions(seat: Seat): void {
    const { market: { book }, opened } = seat;
    for (let row = 0; book.markets > 0 && row < book.workingOrders;) {
      const order = book.at(row);
      if (!seat.market.isDueAtOpen(row, opened)) row++;
      else if (!order.reduces) return;
      else row = this.#fillOrder(seat, order.number);
    }
  }

  /** Fills the remaining market orders of all markets in order of placement. */
  #fillOthers(seats: readonly Seat[]): void {
    const waiting: { seat: Seat; number: number }[] = [];
    for (const seat of seats) {
      const { market, opened } = seat;
      for (let row = 0; market.book.markets > 0 && row < market.book.workingOrders; row++) {
        if (market.isDueAtOpen(row, opened)) waiting.push({ seat, number: market.book.at(row).number });
      }
    }
    waiting.sort((a, b) => a.number - b.number);
    for (const { seat, number } of waiting) this.#fillOrder(seat, number);
  }

  /** Fills an order, unless it has ended. Returns the row of the next one in its book. */
  #fillOrder(seat: Seat, number: number): number {
    const { market, opened } = seat;
    const order = market.book.find(number);
    if (order !== null) {
      this.#positions.bind(seat);
      market.fillAtOpen(order, opened);
      this.#positions.refresh(seat);
    }
    return market.book.rowAfter(number);
  }

  /** Closes what a position has beyond its target, or all of it where the target is on the other side. */
  #reduceToTarget(seat: Seat, equity: number): void {
    const { target, mark, quantity, minTrade, value } = seat;
    seat.budget = 0;
    if (Number.isNaN(target) || (target !== 0 && Math.abs(target * equity - value) < minTrade * equity)) return;
    const isSameSide = target * quantity > 0;
    const wanted = Math.abs(target) * equity;
    const held = isSameSide ? Math.abs(value) : 0;
    if (wanted > held) seat.budget = wanted - held;
    if (isSameSide && wanted >= held) return;
    const units = Math.abs(quantity);
    const kept = isSameSide ? Math.min(units, this.#rules.lots.roundDown(wanted / (mark * seat.ledger.rate))) : 0;
    const excess = this.#rules.lots.minus(units, kept);
    if (excess > 0) this.#trade(seat, -Math.sign(quantity), excess, true);
  }

  /** Opens or enlarges positions, all by the same part of what they lack where money is short. */
  #increaseToTargets(seats: readonly Seat[], equity: number): void {
    let asked = 0;
    for (const seat of seats) asked += seat.budget;
    const free = this.#rules.margin.buyingPowerOf(this.#positions.freeMargin);
    const part = asked > free ? free / asked : 1;
    for (const seat of seats) {
      const { budget, target } = seat;
      seat.target = NaN;
      if (!(budget > 0) || equity <= 0) continue;
      const side = Math.sign(target);
      const units = this.#unitsFor(seat, side, budget * part / seat.ledger.rate);
      if (units > 0) this.#trade(seat, side, units, false);
    }
  }

  /** The whole lots that this money pays, costs included. */
  #unitsFor({ mark, market }: Seat, side: number, money: number): number {
    const price = market.pricing.sizingPrice(mark, side, true);
    return this.#rules.lots.roundDown(this.#rules.commission.affordableUnits(money, price));
  }

  /** Places and fills a market order at the open of a seat's newest candle. */
  #trade(seat: Seat, side: number, units: number, reduceOnly: boolean): void {
    const { market: { book }, opened } = seat;
    const draft = this.#draft;
    draft.side = side;
    draft.size = units;
    draft.reduceOnly = reduceOnly;
    draft.tag = seat.tag;
    this.#positions.bind(seat);
    book.index = opened - 1;
    seat.targetOrder = book.place(draft);
    const order = seat.targetOrder === REFUSED ? null : book.find(seat.targetOrder);
    if (order === null) return;
    if (!reduceOnly) {
      // Sized to fit with the others of its decision: it is not held against the buying power once more.
      order.sizeBy = BY_EQUITY_FRACTION;
      order.units = units;
      order.sizedAt = opened;
    }
    this.#fillOrder(seat, order.number);
  }
}
