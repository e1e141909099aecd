/// <reference path="../strategy.d.ts" />
/** Buys a first amount, then more at each step down, each `factor` times as large. Sells everything above the average price. */
strategy(({ first = 0.05, step = 0.02, factor = 1.5, levels = 5, target = 0.02 }: Partial<Record<string, number>>) => ({
  last: NaN,
  decide(i, { close }, account, orders) {
    const held = orders.trades.length;
    const isDue = held === 0 || close[i]! <= this.last * (1 - step);
    if (held > 0 && close[i]! >= account.entryPrice * (1 + target)) orders.close(1, "target");
    else if (held < levels && isDue) {
      orders.buy({ size: first * factor ** held * account.initialBalance, sizeBy: "cash", tag: `level ${held + 1}` });
      this.last = close[i]!;
    }
  },
}));
