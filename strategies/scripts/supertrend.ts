/// <reference path="./strategy.d.ts" />
/** Follows the Supertrend line from side to side. */
strategy(({ period, multiple, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  multiple: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: period + 1,
    prepare({ high, low, close }) {
      this.trend = supertrend(high, low, close, period, multiple).direction;
    },
    decide(i, _candles, { quantity }, orders) {
      const [before, now] = [this.trend[i - 1], this.trend[i]];
      if (quantity <= 0 && now > 0 && before < 0) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && now < 0 && before > 0) orders.sell(guards);
      else if (quantity * now < 0) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
