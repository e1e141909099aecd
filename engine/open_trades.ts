import { Records } from "./records.ts";

/** How a price was reached: it decides what of a trade's entry and exit candles lies between entry and exit. */
export const AT_OPEN = 0;
export const AT_CLOSE = 1;
/** Inside the candle, at a price that was reached from below, or from above. */
export const FROM_BELOW = 2;
export const FROM_ABOVE = 3;

// Fields of a row; prices are NaN where there is none.
export const NUMBER = 0;
export const ENTRY_INDEX = 1;
export const ENTRY_KIND = 2;
export const QUANTITY = 3;
export const PRICE = 4;
/** Fees paid at the entry, and financing received, of what is still open. */
export const FEES = 5;
export const FINANCING = 6;
export const STOP_LOSS = 7;
export const TAKE_PROFIT = 8;
export const TRAIL_DISTANCE = 9;
export const TRAIL_FRACTION = 10;
export const TRAIL_BEST = 11;
export const TRAIL_STOP = 12;
/** Index of the candle at whose open the trade is closed; Infinity: none. */
export const TIME_STOP = 13;
export const AMBIGUOUS = 14;
/** Exit reason of an exit that has begun and could not be filled whole; -1: none. */
export const EXITING = 15;
/** The order that opened it. */
export const ORDER = 16;
/** The step of the walk (walk.ts) in which it was opened, and where it stood in it. */
export const ENTRY_STEP = 17;
/** BEFORE_ALL of it, or the direction in which the entry's price was reached (1 up, -1 down), or NO_EXITS in this step. */
export const ENTRY_PATH = 18;
const WIDTH = 19;

export const BEFORE_ALL = 0;
export const NO_EXITS = 2;

/** The trades that are open, oldest first, all on one side. */
export class OpenTrades extends Records {
  /** Trades that were ever opened. */
  opened = 0;

  constructor() {
    super(WIDTH, 16);
  }

  /** Adds a trade without guards and returns its row. */
  open(entryIndex: number, kind: number, quantity: number, price: number, fees: number, order: number): number {
    const at = this.appendEmpty();
    const { data } = this;
    data[at + NUMBER] = this.opened++;
    data[at + ENTRY_INDEX] = entryIndex;
    data[at + ENTRY_KIND] = kind;
    data[at + QUANTITY] = quantity;
    data[at + PRICE] = price;
    data[at + FEES] = fees;
    data[at + FINANCING] = 0;
    data[at + TIME_STOP] = Infinity;
    data[at + AMBIGUOUS] = 0;
    data[at + EXITING] = -1;
    data[at + ORDER] = order;
    return this.count - 1;
  }

  /** Whether prices or time alone may close a trade. */
  isGuarded(row: number): boolean {
    const hasPrice = !Number.isNaN(this.get(row, STOP_LOSS)) || !Number.isNaN(this.get(row, TAKE_PROFIT));
    return hasPrice || !Number.isNaN(this.get(row, TRAIL_STOP)) || this.get(row, TIME_STOP) < Infinity;
  }

  /** The stop that counts for a trade: the tighter of its stop loss and its trailing stop; NaN: none. */
  stopOf(row: number, side: number): number {
    const fixed = this.get(row, STOP_LOSS);
    const trailing = this.get(row, TRAIL_STOP);
    if (Number.isNaN(trailing) || side * fixed >= side * trailing) return fixed;
    return trailing;
  }

  /** Moves a trailing stop after the best price; it never moves back. */
  trail(row: number, side: number, price: number): void {
    const before = this.get(row, TRAIL_BEST);
    if (side * price <= side * before) return;
    this.set(row, TRAIL_BEST, price);
    const distance = this.get(row, TRAIL_DISTANCE);
    const given = distance > 0 ? distance : price * this.get(row, TRAIL_FRACTION);
    this.set(row, TRAIL_STOP, price - side * given);
  }
}
