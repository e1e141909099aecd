/// <reference path="./strategy.d.ts" />
/** Expects closes far from the volume-weighted average price to return to it. */
strategy(({ anchor, period, width, direction, takeProfitLevel, stopLossLevel }: {
  anchor: "rolling" | "session";
  period: number;
  width: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: anchor === "session" ? 3 : period + 1,
    prepare({ time, high, low, close, volume }) {
      this.average = anchor === "session"
        ? anchoredVwap(high, low, close, volume, tradingDay(time).candle)
        : vwap(high, low, close, volume, period);
    },
    decide(i, { close }, { quantity }, orders) {
      const { mean, deviation } = this.average;
      // The first candle of a day has no deviation, and its close is no signal.
      const isLow = (n: number) => deviation[n] > 0 && close[n]! < mean[n] - width * deviation[n];
      const isHigh = (n: number) => deviation[n] > 0 && close[n]! > mean[n] + width * deviation[n];
      if (quantity <= 0 && isLow(i) && !isLow(i - 1)) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && isHigh(i) && !isHigh(i - 1)) orders.sell(guards);
      else if ((quantity > 0 && close[i]! >= mean[i]) || (quantity < 0 && close[i]! <= mean[i])) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
