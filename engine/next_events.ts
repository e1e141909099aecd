import type { Execution } from "./execution.ts";

// What an event is; smaller comes first where stops do.
export const A_MARGIN_CALL = -1;
export const A_STOP = 0;
export const AN_ORDER = 1;
export const A_TARGET = 2;

/** A price inside a candle at which something happens. */
export interface Event {
  level: number;
  /** A_MARGIN_CALL, A_STOP, AN_ORDER or A_TARGET; NaN: nothing happens. */
  what: number;
  /** Row of the trade or order; of a margin call 0. */
  row: number;
}

/** Of a candle. */
interface Prices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
}

/** The next event on either side of a candle's open, and which of the two comes first (walk.ts, rule 2). */
export class NextEvents {
  readonly down: Event = { level: NaN, what: NaN, row: 0 };
  readonly up: Event = { level: NaN, what: NaN, row: 0 };
  readonly #bothTouched: Execution["bothTouched"];

  constructor(bothTouched: Execution["bothTouched"]) {
    this.#bothTouched = bothTouched;
  }

  clear(): void {
    this.down.what = NaN;
    this.up.what = NaN;
  }

  /** Keeps an event if it is the nearest on its side so far; the first of equals stays. @param direction 1: up, -1: down. */
  offer(direction: number, level: number, what: number, row: number): void {
    const event = direction > 0 ? this.up : this.down;
    if (!Number.isNaN(event.what) && direction * level >= direction * event.level) return;
    event.level = level;
    event.what = what;
    event.row = row;
  }

  areOnBothSides(): boolean {
    return !Number.isNaN(this.down.what) && !Number.isNaN(this.up.what);
  }

  /** The event that comes first in a candle of these prices; null when there is none. */
  first(prices: Prices): Event | null {
    if (Number.isNaN(this.down.what)) return Number.isNaN(this.up.what) ? null : this.up;
    return Number.isNaN(this.up.what) || this.#isDownFirst(prices) ? this.down : this.up;
  }

  #isDownFirst({ open, high, low }: Prices): boolean {
    if (this.#bothTouched === "nearest") return open - low <= high - open;
    const down = this.down.what;
    const up = this.up.what;
    if (down === up) return down !== AN_ORDER || this.down.row < this.up.row;
    return this.#bothTouched === "target_first" ? down > up : down < up;
  }
}
