/// <reference path="./strategy.d.ts" />
/** Expects closes that are unusual among the last ones to become usual again. */
strategy(({ period, entry, exit, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  entry: number;
  exit: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (exit >= entry) throw new RangeError(`exit must be less than entry: ${exit} is not less than ${entry}`);
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: period + 1,
    prepare({ close }) {
      this.score = zscore(close, period);
    },
    decide(i, _candles, { quantity }, orders) {
      const [before, now] = [this.score[i - 1], this.score[i]];
      if (quantity <= 0 && before >= -entry && now < -entry) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && before <= entry && now > entry) orders.sell(guards);
      else if ((quantity > 0 && now >= -exit) || (quantity < 0 && now <= exit)) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
