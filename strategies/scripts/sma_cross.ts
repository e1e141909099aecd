/// <reference path="./strategy.d.ts" />
/** Follows the trend of two simple moving averages. */
strategy(({ fast, slow, direction, takeProfitLevel, stopLossLevel }: {
  fast: number;
  slow: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
  // A level of 0 is none.
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: slow + 1,
    prepare({ close }) {
      this.first = sma(close, fast);
      this.second = sma(close, slow);
    },
    decide(i, _candles, account, orders) {
      const rises = crossesAbove(this.first, this.second, i);
      if (!rises && !crossesBelow(this.first, this.second, i)) return;
      orders.cancelAll();
      if (rises && account.quantity <= 0) orders.buy(guards);
      else if (!rises && direction === "both" && account.quantity >= 0) orders.sell(guards);
      else if (!rises && account.quantity > 0) orders.close();
    },
  };
});
