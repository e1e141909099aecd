/// <reference path="../strategy.d.ts" />
/** Buys breakouts of the entry channel, leaves below the exit channel. The first breakout after a trade that won is skipped. */
strategy(({ entry = 20, exit = 10, risk = 0.02, multiple = 2 }: Partial<Record<string, number>>) => ({
  warmup: Math.max(entry, exit) + 2,
  ...{ before: NaN, won: false },
  prepare({ high, low, close }) {
    this.upper = shift(highest(high, entry), 1);
    this.lower = shift(lowest(low, exit), 1);
    this.range = atr(high, low, close, entry);
  },
  decide(i, { close }, account, orders) {
    if (account.quantity !== 0) {
      if (close[i]! < this.lower[i]) orders.close();
      return;
    }
    // The trade before is over: money tells how it went.
    if (account.cash !== this.before) this.won = account.cash > this.before;
    this.before = account.cash;
    if (!crossesAbove(close, this.upper, i)) return;
    const stopLoss = close[i]! - multiple * this.range[i];
    if (this.won) this.won = false;
    else if (stopLoss > 0) orders.buy({ stopLoss, size: risk, sizeBy: "risk_fraction" });
  },
}));
