import type { Seat } from "./seat.ts";
import type { Timeline } from "./timeline.ts";
import { type Asks, Wakes } from "./wakes.ts";

/** The markets that need a look in a row: those whose candle begins before it closes, and those whose candle closes in it. */
export class RowSeats {
  readonly opening: Seat[] = [];
  readonly closing: Seat[] = [];
  readonly #seats: readonly Seat[];
  readonly #wakes: Wakes;

  constructor(seats: readonly Seat[], timeline: Timeline, decider: Asks) {
    this.#seats = seats;
    this.#wakes = new Wakes(seats, timeline, decider);
  }

  /** Finds the markets of a row; false if there are none. */
  begin(row: number): boolean {
    const { opening, closing } = this;
    if (opening.length > 0) opening.length = 0;
    if (closing.length > 0) closing.length = 0;
    if (row < this.#wakes.next) return false;
    this.#wakes.wake(row, this.#seats, (seat) => this.#wakeSeat(seat, row));
    return true;
  }

  /** Adds the positions whose candle closes to those that are looked at: each may be closed by a margin call. */
  join(row: number, held: readonly Seat[]): void {
    const { closing } = this;
    for (const seat of held) {
      seat.see(row - 1);
      if (seat.opened > seat.i || seat.i === seat.last || seat.closes.rowOf(seat.i + 1) !== row) continue;
      seat.opened++;
      closing.push(seat);
    }
    closing.sort((a, b) => a.index - b.index);
  }

  /** Has a market looked at in this row's decisions, because something has happened to it. */
  keep(seat: Seat, row: number): void {
    this.#wakes.rows[seat.index] = row;
  }

  /** Finds the next rows of the markets of this row, after its decisions. @param acted Those with new orders or targets. */
  end(row: number, acted: readonly Seat[]): void {
    for (const seat of this.closing) if (this.#wakes.rows[seat.index]! <= row) this.#wakes.schedule(seat);
    for (const seat of acted) this.#wakes.schedule(seat);
  }

  /** @returns The row in which its candle closes. */
  #wakeSeat(seat: Seat, row: number): number {
    if (seat.isActive) {
      seat.see(row - 1);
      if (seat.opened === seat.i) {
        seat.opened++;
        seat.isDue = !Number.isNaN(seat.target) || seat.market.isDue(seat.opened);
        this.opening.push(seat);
      }
    } else seat.opened = seat.closes.newestIn(row, seat.last);
    const closes = seat.closes.rowOf(seat.opened);
    if (closes === row) this.closing.push(seat);
    return closes;
  }
}
