import type { Fill } from "./fill.ts";

/** No exit has begun. */
const NOT_EXITING = -1;

/**
 * An open trade. Prices and distances are NaN where there is none.
 *
 * Fields that may hold a fraction start as NaN. V8 then writes new values in place; a field that started as an integer
 * would allocate an object for each.
 */
export class OpenTrade {
  number = 0;
  entryIndex = 0;
  /** How the entry's price was reached (fill.ts). */
  entryKind = 0;
  quantity = NaN;
  /** Mean price of the entry. */
  price = NaN;
  /** The worth of one unit of the market's currency in the account's at the entry. */
  rate = NaN;
  /** Entry fees paid and financing received for the units that are still open, in the account's currency. */
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
  /** The step of the walk that opened it, and where the entry stood in that step (fill.ts, `path`). */
  entryStep = 0;
  entryPath = 0;

  /** Makes it a new trade without guards. */
  begin(number: number, fill: Fill, order: number, rate: number): void {
    this.number = number;
    this.entryIndex = fill.index;
    this.entryKind = fill.kind;
    this.quantity = fill.units;
    this.price = fill.price;
    this.rate = rate;
    this.fees = fill.fee * rate;
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
    this.entryStep = fill.step;
    this.entryPath = fill.path;
  }

  get isExiting(): boolean {
    return this.exiting !== NOT_EXITING;
  }

  /** True if a price or time alone may close it. */
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

  /** Moves the trailing stop after a new best price. It never moves back. */
  trail(side: number, price: number): void {
    if (side * price <= side * this.trailBest) return;
    this.trailBest = price;
    const given = this.trailDistance > 0 ? this.trailDistance : price * this.trailFraction;
    this.trailStop = price - side * given;
  }
}
