/// <reference path="./strategy.d.ts" />
/** Expects closes outside the Keltner channel to return to its middle. */
strategy(({ period, range, width, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  range: number;
  width: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: Math.max(period, range) + 1,
    prepare({ high, low, close }) {
      this.bands = keltner(high, low, close, period, range, width);
    },
    decide(i, { close }, { quantity }, orders) {
      const { upper, middle, lower } = this.bands;
      const [before, now] = [close[i - 1]!, close[i]!];
      if (quantity <= 0 && before >= lower[i - 1] && now < lower[i]) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && before <= upper[i - 1] && now > upper[i]) orders.sell(guards);
      else if ((quantity > 0 && now >= middle[i]) || (quantity < 0 && now <= middle[i])) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
