/// <reference path="./strategy.d.ts" />
/** Enters with the trend and leaves by a stop that trails by the market's range. */
strategy(({ trend, atr: atrPeriod, multiple, direction, takeProfitLevel }: {
  trend: number;
  atr: number;
  multiple: number;
  direction: "long" | "both";
  takeProfitLevel: number;
}) => ({
  warmup: Math.max(trend + 1, atrPeriod),
  prepare({ high, low, close }) {
    this.trend = ema(close, trend);
    this.range = atr(high, low, close, atrPeriod);
  },
  decide(i, { close }, { quantity }, orders) {
    if (quantity !== 0 || !(this.range[i] > 0)) return;
    const guards = { trailDistance: multiple * this.range[i], takeProfitFraction: takeProfitLevel || undefined };
    if (crossesAbove(close, this.trend, i)) orders.buy(guards);
    else if (direction === "both" && crossesBelow(close, this.trend, i)) orders.sell(guards);
  },
}));
