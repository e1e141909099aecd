// The winners of the last months, in equal parts: the built-in Momentum Rotation.
import { readNumber, readText, valueAt } from "./hindcast";
import { DAY, Market, Markets, MONTH, playMarkets, Portfolio, QUARTER, WEEK } from "./hindcast_markets";

// Hindcast calls these.
export { abi_version, alloc, init, on_candle } from "./hindcast";
export { every, on_markets } from "./hindcast_markets";

class MomentumRotation extends Portfolio {
  top: i32 = <i32> readNumber("top", 3);
  lookback: i32 = <i32> readNumber("lookback", 126);
  skip: i32 = <i32> readNumber("skip", 0);
  filter: f64 = readNumber("filter", 0);
  exposure: f64 = readNumber("exposure", 1);
  minTrade: f64 = readNumber("minTrade", 0);

  override warmup(): u32 {
    assert(this.skip < this.lookback, "skip must be less than lookback");
    return this.lookback + 1;
  }

  override every(): i32 {
    const period = readText("every", "month");
    return period == "day" ? DAY : period == "week" ? WEEK : period == "quarter" ? QUARTER : MONTH;
  }

  decideOn(markets: Markets): void {
    for (let place = 0; place < this.top; place++) {
      let best = -1;
      let bestReturn: f64 = 0;
      for (let n = 0; n < <i32> markets.count; n++) {
        const market = markets.at(n);
        if (!market.isMember || <i32> market.count <= this.lookback || market.target != 0) continue;
        const past = this.returnOf(market);
        if (past < this.filter || (best >= 0 && past <= bestReturn)) continue;
        best = n;
        bestReturn = past;
      }
      if (best < 0) break;
      markets.at(best).target = this.exposure / this.top;
    }
    markets.sendTargets(this.minTrade);
  }

  private returnOf(market: Market): f64 {
    const i = market.count - 1;
    return valueAt(market.close, i - this.skip) / valueAt(market.close, i - this.lookback) - 1;
  }
}

playMarkets(() => new MomentumRotation());
