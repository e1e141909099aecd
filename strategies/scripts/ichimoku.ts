/// <reference path="./strategy.d.ts" />
/** Follows the trend of the Ichimoku lines outside of the cloud. */
strategy(({ conversion, base, span, displacement, direction, takeProfitLevel, stopLossLevel }: {
  conversion: number;
  base: number;
  span: number;
  displacement: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (conversion >= base) {
    throw new RangeError(`conversion must be less than base: ${conversion} is not less than ${base}`);
  }
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: Math.max(base, span) + displacement,
    prepare({ high, low }) {
      this.lines = ichimoku(high, low, conversion, base, span, displacement);
    },
    decide(i, { close }, { quantity }, orders) {
      const { conversion: fast, base: slow, leadingA, leadingB } = this.lines;
      const rises = (n: number) => fast[n] > slow[n] && close[n]! > Math.max(leadingA[n], leadingB[n]);
      const falls = (n: number) => fast[n] < slow[n] && close[n]! < Math.min(leadingA[n], leadingB[n]);
      if (quantity <= 0 && rises(i) && !rises(i - 1)) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && falls(i) && !falls(i - 1)) orders.sell(guards);
      else if ((quantity > 0 && fast[i] < slow[i]) || (quantity < 0 && fast[i] > slow[i])) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
