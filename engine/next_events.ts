import type { Execution } from "./execution.ts";

// Types of events. Where stops come first, the smaller one does.
export const A_MARGIN_CALL = -1;
export const A_STOP = 0;
export const AN_ORDER = 1;
export const A_TARGET = 2;

/** A price inside a candle that causes an event. */
export interface Event {
  level: number;
  /** A_MARGIN_CALL, A_STOP, AN_ORDER or A_TARGET; NaN: no event. */
  type: number;
  /** Row of the trade or order; 0 for a margin call. */
  row: number;
}

/** The prices of a candle. */
interface Prices {
  readonly open: number;
  readonly high: number;
  readonly low: number;
}

/** The next event on either side of a candle's open, and the order of the two (walk.ts, rule 2). */
export class NextEvents {
  readonly down: Event = { level: NaN, type: NaN, row: 0 };
  readonly up: Event = { level: NaN, type: NaN, row: 0 };
  readonly #bothTouched: Execution["bothTouched"];

  constructor(bothTouched: Execution["bothTouched"]) {
    this.#bothTouched = bothTouched;
  }

  clear(): void {
    this.down.type = NaN;
    this.up.type = NaN;
  }

  /** Keeps an event if it is the nearest on its side so far; of equals the first stays. @param direction 1: up, -1: down. */
  offer(direction: number, level: number, type: number, row: number): void {
    const event = direction > 0 ? this.up : this.down;
    if (!Number.isNaN(event.type) && direction * level >= direction * event.level) return;
    event.level = level;
    event.type = type;
    event.row = row;
  }

  areOnBothSides(): boolean {
    return !Number.isNaN(this.down.type) && !Number.isNaN(this.up.type);
  }

  /** The first event in a candle of these prices; null when there is none. */
  first(prices: Prices): Event | null {
    if (Number.isNaN(this.down.type)) return Number.isNaN(this.up.type) ? null : this.up;
    return Number.isNaN(this.up.type) || this.#isDownFirst(prices) ? this.down : this.up;
  }

  #isDownFirst({ open, high, low }: Prices): boolean {
    if (this.#bothTouched === "nearest") return open - low <= high - open;
    const down = this.down.type;
    const up = this.up.type;
    if (down === up) return down !== AN_ORDER || this.down.row < this.up.row;
    return this.#bothTouched === "target_first" ? down > up : down < up;
  }
}
