/// <reference path="../strategy.d.ts" />
/** Holds as much as gives the account a volatility of `target` a year. It trades where that differs by more than `band` of equity. */
strategy(({ period = 48, target = 0.2, most = 0.95, band = 0.1 }: Partial<Record<string, number>>) => ({
  warmup: period + 1,
  prepare({ time, close }) {
    this.volatility = realisedVolatility(time, close, period);
  },
  decide(i, { close }, { equity, quantity }, orders) {
    const weight = Math.min(most, target / this.volatility[i]);
    const change = weight - quantity * close[i]! / equity;
    if (!(Math.abs(change) > band)) return;
    const size = Math.abs(change) * equity / close[i]!;
    if (change > 0) orders.buy({ size });
    else orders.sell({ size, reduceOnly: true });
  },
}));
