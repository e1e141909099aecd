/// <reference path="./strategy.d.ts" />
/** Follows the momentum of the MACD. */
strategy(({ fast, slow, signal, direction, takeProfitLevel, stopLossLevel }: {
  fast: number;
  slow: number;
  signal: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (fast >= slow) throw new RangeError(`fast must be less than slow: ${fast} is not less than ${slow}`);
  // A level of 0 is none.
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: slow + signal,
    prepare({ close }) {
      const lines = macd(close, fast, slow, signal);
      this.first = lines.macd;
      this.second = lines.signal;
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
