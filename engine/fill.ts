import { AT_OPEN } from "./open_trades.ts";

/**
 * A fill in the making. There is one for a whole run: numbers with a fraction that go from call to call would become an
 * object each, while in these fields they stay where they are (open_trades.ts).
 */
export class Fill {
  /** The candle whose price it is, and how that price was reached (open_trades.ts). */
  index = 0;
  kind = AT_OPEN;
  /** The market's price, before spread and slippage. */
  raw = NaN;
  /** Whether it slips: limit orders and targets name their price. */
  slips = true;
  /** What is filled, at which price and for which fee: known once it is filled. */
  units = NaN;
  price = NaN;
  fee = NaN;

  /** Says where the market stands. */
  at(index: number, kind: number, raw: number, slips: boolean): void {
    this.index = index;
    this.kind = kind;
    this.raw = raw;
    this.slips = slips;
  }
}
