/// <reference path="../strategy.d.ts" />
/** Buys where the fast average crosses above the slow one. A stop follows the best price, `multiple` average true ranges away. */
strategy(({ fast = 10, slow = 30, period = 14, multiple = 3 }: Partial<Record<string, number>>) => ({
  warmup: Math.max(fast, slow, period) + 1,
  prepare({ high, low, close }) {
    this.fast = sma(close, fast);
    this.slow = sma(close, slow);
    this.range = atr(high, low, close, period);
  },
  decide(i, _candles, account, orders) {
    if (account.quantity === 0 && crossesAbove(this.fast, this.slow, i)) {
      orders.buy({ trailDistance: multiple * this.range[i] });
    } else if (account.quantity > 0 && crossesBelow(this.fast, this.slow, i)) orders.close();
  },
}));
