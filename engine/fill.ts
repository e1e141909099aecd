/** How a price was reached. It decides which parts of the entry and exit candles lie between entry and exit. */
export const AT_OPEN = 0;
export const AT_CLOSE = 1;
/** Inside the candle, at a price that was reached from below or from above. */
export const FROM_BELOW = 2;
export const FROM_ABOVE = 3;

/** Where an entry stands in its step of the walk: before all of the step, or in it with no exit allowed. */
export const BEFORE_ALL = 0;
export const NO_EXITS = 2;

/** The step of a fill outside of any walk. */
const NO_STEP = -1;

/**
 * One fill in the making, passed from function to function. The simulator reuses a few of these objects: V8 would allocate
 * an object for each number with a fraction that is passed or stored otherwise (open_trade.ts).
 */
export class Fill {
  /** The candle whose price it is. */
  index = 0;
  /** AT_OPEN, AT_CLOSE, FROM_BELOW or FROM_ABOVE. */
  kind = AT_OPEN;
  /** The market's price, before spread and slippage. */
  raw = NaN;
  /** True if it slips. Limit orders and targets name their price and do not. */
  slips = true;
  /** True if it is filled whole, whatever the volume. */
  isForced = false;
  /** The step of the walk (walk.ts) in which it happens. */
  step = NO_STEP;
  /** BEFORE_ALL, NO_EXITS, or the direction in which the entry's price was reached: 1 up, -1 down. */
  path = BEFORE_ALL;
  /** Number of the order that is filled. Has no meaning where a stop, a target or the simulator closes a trade. */
  order = 0;
  /** Units, price and fee are known once it is filled. */
  units = NaN;
  price = NaN;
  fee = NaN;

  /** Sets where the market stands. */
  at(index: number, kind: number, raw: number, slips: boolean): void {
    this.index = index;
    this.kind = kind;
    this.raw = raw;
    this.slips = slips;
    this.isForced = false;
  }

  /** Sets where the market stands for a fill that is filled whole, whatever the volume. */
  force(index: number, kind: number, raw: number): void {
    this.at(index, kind, raw, true);
    this.isForced = true;
  }
}
