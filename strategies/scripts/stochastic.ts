/// <reference path="./strategy.d.ts" />
/** Trades the turns of the stochastic oscillator at its extremes. */
strategy(({ period, slowing, signal, oversold, overbought, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  slowing: number;
  signal: number;
  oversold: number;
  overbought: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (oversold > overbought) throw new RangeError("oversold must not be above overbought");
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: period + slowing + signal - 1,
    prepare({ high, low, close }) {
      this.lines = stochastic(high, low, close, period, slowing, signal);
    },
    decide(i, _candles, { quantity }, orders) {
      const { k, d } = this.lines;
      const turnsUp = d[i] < oversold && crossesAbove(k, d, i);
      const turnsDown = d[i] > overbought && crossesBelow(k, d, i);
      if (quantity <= 0 && turnsUp) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && turnsDown) orders.sell(guards);
      else if (quantity > 0 && turnsDown) {
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
