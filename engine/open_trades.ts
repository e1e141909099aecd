import type { Fill } from "./fill.ts";

/** How a price was reached: it decides what of a trade's entry and exit candles lies between entry and exit. */
export const AT_OPEN = 0;
export const AT_CLOSE = 1;
/** Inside the candle, at a price that was reached from below, or from above. */
export const FROM_BELOW = 2;
export const FROM_ABOVE = 3;

/** Where a trade stood in the step of the walk in which it was opened: before all of it, or without any exit in it. */
export const BEFORE_ALL = 0;
export const NO_EXITS = 2;

/** No exit has begun. */
const NOT_EXITING = -1;
/** The entry belongs to no step of the walk yet. */
const NO_STEP = -1;

/**
 * A trade that is open. Prices and distances are NaN where there is none.
 *
 * What may have a fraction is NaN from the start: V8 then writes new values in place, where it would make an object of
 * each in a field that began as an integer.
 */
export class OpenTrade {
  number = 0;
  entryIndex = 0;
  /** How its entry's price was reached. */
  entryKind = AT_OPEN;
  quantity = NaN;
  /** Mean price of its entry. */
  price = NaN;
  /** Fees paid at the entry, and financing received, of what is still open. */
  fees = NaN;
  financing = NaN;
  stopLoss = NaN;
  takeProfit = NaN;
  trailDistance = NaN;
  trailFraction = NaN;
  trailBest = NaN;
  trailStop = NaN;
  /** Index of the candle at whose open the trade is closed; Infinity: none. */
  timeStop = NaN;
  isAmbiguous = false;
  /** Exit reason of an exit that has begun and could not be filled whole, or NOT_EXITING. */
  exiting = NOT_EXITING;
  /** Number of the order that opened it. */
  order = 0;
  /** The step of the walk (walk.ts) in which it was opened, and where it stood in it. */
  entryStep = NO_STEP;
  /** BEFORE_ALL of it, or the direction in which the entry's price was reached (1 up, -1 down), or NO_EXITS in this step. */
  entryPath = BEFORE_ALL;

  /** Makes it a new trade without guards. */
  begin(number: number, fill: Fill, order: number): void {
    this.number = number;
    this.entryIndex = fill.index;
    this.entryKind = fill.kind;
    this.quantity = fill.units;
    this.price = fill.price;
    this.fees = fill.fee;
    this.financing = 0;
    this.stopLoss = NaN;
    this.takeProfit = NaN;
    this.trailDistance = NaN;
    this.trailFraction = NaN;
    this.trailBest = NaN;
    this.trailStop = NaN;
    this.timeStop = Infinity;
    this.isAmbiguous = false;
    this.exiting = NOT_EXITING;
    this.order = order;
    this.entryStep = NO_STEP;
    this.entryPath = BEFORE_ALL;
  }

  /** Whether its order has yet to say what guards it. */
  get isNew(): boolean {
    return this.entryStep === NO_STEP;
  }

  get isExiting(): boolean {
    return this.exiting !== NOT_EXITING;
  }

  /** Whether prices or time alone may close it. */
  get isGuarded(): boolean {
    const hasPrice = !Number.isNaN(this.stopLoss) || !Number.isNaN(this.takeProfit);
    return hasPrice || !Number.isNaN(this.trailStop) || this.timeStop < Infinity;
  }

  /** The stop that counts: the tighter of stop loss and trailing stop; NaN: none. */
  stopOn(side: number): number {
    const fixed = this.stopLoss;
    const trailing = this.trailStop;
    if (Number.isNaN(trailing) || side * fixed >= side * trailing) return fixed;
    return trailing;
  }

  /** Moves the trailing stop after the best price; it never moves back. */
  trail(side: number, price: number): void {
    if (side * price <= side * this.trailBest) return;
    this.trailBest = price;
    const given = this.trailDistance > 0 ? this.trailDistance : price * this.trailFraction;
    this.trailStop = price - side * given;
  }
}
