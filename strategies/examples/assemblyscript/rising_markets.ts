// Holds, in equal parts, the markets that close above the mean of their own last days that have closed. Reads the input `daily`.
import { askInput, readNumber, valueAt } from "./hindcast";
import { Market, Markets, playMarkets, Portfolio } from "./hindcast_markets";
export { abi_version, alloc, init, on_candle } from "./hindcast";
export { every, on_markets } from "./hindcast_markets";

class RisingMarkets extends Portfolio {
  daily: i32 = askInput("daily");
  days: u32 = <u32> readNumber("days", 3);
  minTrade: f64 = readNumber("minTrade", 0.05);

  // As many days as hours come before the range.
  override warmup(): u32 {
    return this.days;
  }

  decideOn(markets: Markets): void {
    let rising = 0;
    for (let n = 0; n < <i32> markets.count; n++) rising += i32(this.rises(markets, n));
    for (let n = 0; n < <i32> markets.count; n++) {
      if (this.rises(markets, n)) markets.at(n).target = 1 / <f64> rising;
    }
    markets.sendTargets(this.minTrade);
  }

  private rises(markets: Markets, n: i32): bool {
    const market = markets.at(n), input = markets.inputOf(n, this.daily), days = this.days;
    if (!market.isMember || market.count == 0 || input.count < days) return false;
    let sum: f64 = 0;
    for (let k = input.count - days; k < input.count; k++) sum += valueAt(input.close, k);
    return valueAt(market.close, market.count - 1) > sum / days;
  }
}
playMarkets(() => new RisingMarkets());
