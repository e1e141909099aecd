/// <reference path="../strategy.d.ts" />
/** Buys what has fallen, sells it once it has recovered, and after `hold` candles at the latest. */
strategy(({ period = 14, below = 30, above = 55, hold = 24 }: Partial<Record<string, number>>) => ({
  warmup: period + 1,
  prepare({ close }) {
    this.strength = rsi(close, period);
  },
  decide(i, _candles, account, orders) {
    if (account.quantity === 0 && this.strength[i] < below) orders.buy({ timeStopCandles: hold });
    else if (account.quantity > 0 && this.strength[i] > above) orders.close(1, "recovered");
  },
}));
