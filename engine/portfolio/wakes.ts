import type { Seat } from "./seat.ts";
import type { Timeline } from "./timeline.ts";

/** No row: the market needs no more attention. */
const NEVER = 0x7fffffff;
/** The candles in which an active market is searched for its next event at a time. */
const CANDLES_AHEAD = 256;

/** The next decision of a market's own strategy. */
export interface Asks {
  nextOf(seat: Seat): number;
}

/** The rows in which markets need attention: until then nothing but the marks of their positions changes. */
export class Wakes {
  /** By market. */
  readonly rows: Int32Array;
  /** The first of them. */
  next = NEVER;
  readonly #timeline: Timeline;
  readonly #decider: Asks;

  constructor(seats: readonly Seat[], timeline: Timeline, decider: Asks) {
    this.rows = new Int32Array(seats.length);
    this.#timeline = timeline;
    this.#decider = decider;
    for (const seat of seats) this.schedule(seat);
  }

  /** Finds the next row of a seat, after its orders, its position or its target may have changed. */
  schedule(seat: Seat): void {
    const { i, opened, last, closes } = seat;
    const next = this.#decider.nextOf(seat);
    let row = NEVER;
    if (!seat.isActive) {
      if (next <= last) row = closes.rowOf(next);
    } else if (opened > i) row = closes.rowOf(opened);
    else if (i < last) {
      const until = Math.min(last, next, i + CANDLES_AHEAD);
      row = this.#openRowOf(seat, Number.isNaN(seat.target) ? seat.market.nextDue(i + 1, until) : i + 1);
    }
    this.rows[seat.index] = row;
    this.next = Math.min(this.next, row);
  }

  /** Calls back with the markets of a row, in their order. Each is scheduled again, or wakes in the row that the callback returns. */
  wake(row: number, seats: readonly Seat[], visit: (seat: Seat) => number): void {
    if (row < this.next) return;
    const { rows } = this;
    let next = NEVER;
    for (let n = 0; n < rows.length; n++) {
      if (rows[n]! <= row) rows[n] = visit(seats[n]!);
      if (rows[n]! > row) next = Math.min(next, rows[n]!);
    }
    this.next = next;
  }

  #openRowOf(seat: Seat, i: number): number {
    const { isAligned, instant } = this.#timeline;
    return isAligned ? seat.closes.rowOf(i) : seat.openRowOf(i, instant);
  }
}
