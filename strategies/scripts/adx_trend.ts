/// <reference path="./strategy.d.ts" />
/** Follows the side of Wilder's directional movement while the ADX calls it a trend. */
strategy(({ period, threshold, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  threshold: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  // A level of 0 is none.
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: 2 * period + 1,
    prepare({ high, low, close }) {
      this.lines = adx(high, low, close, period);
    },
    decide(i, _candles, { quantity }, orders) {
      const { adx: strength, plus, minus } = this.lines;
      const rises = (n: number) => strength[n] >= threshold && plus[n] > minus[n];
      const falls = (n: number) => strength[n] >= threshold && minus[n] > plus[n];
      if (quantity <= 0 && rises(i) && !rises(i - 1)) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && falls(i) && !falls(i - 1)) orders.sell(guards);
      else if ((quantity > 0 && minus[i] > plus[i]) || (quantity < 0 && plus[i] > minus[i])) {
        // Repeated at each close until flat: volume may have held back a part.
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
