// Buys when an hour closes above the mean of the last days that have closed, and leaves below it. Reads the input `daily`.
import { askInput, buy, closeAll, frame, inputAt, play, readNumber, Strategy, valueAt } from "./hindcast";
export { abi_version, alloc, init, on_candle } from "./hindcast";

class DailyTrend extends Strategy {
  daily: i32 = askInput("daily");
  days: u32 = <u32> readNumber("days", 3);

  // As many days as hours come before the range.
  override warmup(): u32 {
    return this.days;
  }
  decide(): void {
    const input = inputAt(this.daily), days = this.days;
    if (input.count < days) return;
    let sum: f64 = 0;
    for (let k = input.count - days; k < input.count; k++) sum += valueAt(input.close, k);
    const close = valueAt(frame.close, frame.count - 1), mean = sum / days;
    if (frame.quantity == 0 && close > mean) buy();
    else if (frame.quantity > 0 && close < mean) closeAll();
  }
}
play(() => new DailyTrend());
