// Trades the range of the first `candles` after 09:30 in New York, on a market without closing hours, and is out by 16:00. It trades as
// strategies/scripts/examples/new_york_opening_range.ts does.
import { askZone, buy, closeAll, closes, frame, highs, Line, local, lows, play, readNumber, sell, Strategy, times } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

/** Minutes since 09:30, and the edges of the range: NaN until it is complete. */
class Opening extends Line {
  upper: f64 = NaN;
  lower: f64 = NaN;
  private top: f64 = NaN;
  private bottom: f64 = NaN;
  private taken: i32;

  constructor(readonly zone: i32, readonly candles: i32) {
    super();
    this.taken = candles;
  }

  override step(): f64 {
    const at = local(times.now, this.zone), since = at.hour * 60 + at.minute - (9 * 60 + 30);
    if (since == 0) {
      this.top = -Infinity;
      this.bottom = Infinity;
      this.taken = 0;
    }
    if (this.taken < this.candles) {
      this.top = Math.max(this.top, highs.now);
      this.bottom = Math.min(this.bottom, lows.now);
      this.taken++;
    }
    const isComplete = this.taken == this.candles;
    this.upper = isComplete ? this.top : NaN;
    this.lower = isComplete ? this.bottom : NaN;
    return since;
  }
}

class NewYorkRange extends Strategy {
  opening: Opening = new Opening(askZone("America/New_York"), <i32> readNumber("candles", 2));
  isTraded: bool = false;

  decide(): void {
    const since = this.opening.now, upper = this.opening.upper, lower = this.opening.lower, close = closes.now;
    if (since == 0) this.isTraded = false;
    if (since >= 390 || since < 0) {
      if (frame.quantity != 0) closeAll().tagged("end of day");
    } else if (!this.isTraded && frame.quantity == 0) {
      if (close > upper) buy().stopLoss = lower;
      if (close < lower) sell().stopLoss = upper;
      this.isTraded = close > upper || close < lower;
    }
  }
}
play(() => new NewYorkRange());
