/// <reference path="./strategy.d.ts" />
/** Holds more of a quiet market and less of a volatile one. */
strategy(({ period, target, exposure, rebalance }: {
  period: number;
  target: number;
  exposure: number;
  rebalance: number;
}) => {
  if (rebalance >= exposure) throw new RangeError("rebalance must be less than exposure");
  return {
    warmup: period + 1,
    prepare({ time, close }) {
      this.volatility = realisedVolatility(time, close, period);
    },
    decide(i, { close }, { equity, quantity }, orders) {
      // A market order that volume has held back is part of the last difference.
      orders.cancelAll();
      const price = close[i]!;
      const change = Math.min(exposure, target / this.volatility[i]) * equity / price - quantity;
      if (Math.abs(change) * price < rebalance * equity) return;
      if (change > 0) orders.buy({ size: change });
      else orders.sell({ size: -change, reduceOnly: true });
    },
  };
});
