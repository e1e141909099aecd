// The built-in sma-cross: long when the fast average crosses above the slow one, short or out when it crosses below.
import { cancelAll, closeAll, closes, cross, frame, Line, place, play, readNumber, readText, sma, Strategy } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

class SmaCross extends Strategy {
  fast: f64 = readNumber("fast", 10);
  slow: f64 = readNumber("slow", 30);
  crossing: Line = cross(sma(closes, this.fast), sma(closes, this.slow));
  shorts: bool = readText("direction", "both") == "both";
  stopLoss: f64 = readNumber("stopLossLevel", 0);
  takeProfit: f64 = readNumber("takeProfitLevel", 0);

  override warmup(): u32 {
    assert(this.fast < this.slow, "fast must be less than slow");
    return <u32> this.slow + 1;
  }
  decide(): void {
    const side = <i32> this.crossing.now;
    if (side != 0) cancelAll();
    if (side == 0 || side * frame.quantity > 0) return;
    if (side > 0 || this.shorts) place(side).guard(this.stopLoss, this.takeProfit);
    else if (frame.quantity > 0) closeAll();
  }
}
play(() => new SmaCross());
