// Buys when the close is above the one `candles` before, with a stop loss; closes when it is below.
import { buy, closeAll, frame, play, readNumber, Strategy, valueAt } from "./hindcast";

// Hindcast calls these.
export { abi_version, alloc, init, on_candle } from "./hindcast";

class Momentum extends Strategy {
  candles: u32 = <u32> readNumber("candles", 20);
  stopLoss: f64 = readNumber("stopLoss", 0.1);

  // The first decision needs this many visible candles.
  override warmup(): u32 {
    assert(this.candles >= 1, "candles must be 1 or more");
    return this.candles + 1;
  }

  decide(): void {
    const last = frame.count - 1;
    const now = valueAt(frame.close, last), before = valueAt(frame.close, last - this.candles);
    if (now > before && frame.quantity == 0) buy().guard(this.stopLoss, 0).tagged("rise");
    else if (now < before && frame.quantity > 0) closeAll();
  }
}

play(() => new Momentum());
