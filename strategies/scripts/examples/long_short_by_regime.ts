/// <reference path="../strategy.d.ts" />
/** Long above a slow average that rises, short below one that falls, flat in between. */
strategy(({ period = 100, slope = 20, share = 0.9 }: Partial<Record<string, number>>) => ({
  warmup: period + slope,
  prepare({ close }) {
    this.mean = sma(close, period);
    this.before = shift(this.mean, slope);
  },
  decide(i, { close }, account, orders) {
    const [mean, before] = [this.mean[i], this.before[i]];
    const isUp = close[i]! > mean && mean > before;
    const isDown = close[i]! < mean && mean < before;
    const regime = Number(isUp) - Number(isDown);
    if (Math.sign(account.quantity) === regime) return;
    if (account.quantity !== 0) orders.close(1, "regime");
    else if (regime > 0) orders.buy({ size: share, sizeBy: "equity_fraction" });
    else orders.sell({ size: share, sizeBy: "equity_fraction" });
  },
}));
