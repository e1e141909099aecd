/// <reference path="../strategy.d.ts" />
/** Buys below the lower band. Sells half at the middle, where the stop moves to the entry price, and the rest at the upper band. */
strategy(({ period = 20, width = 2, stop = 0.05 }: Partial<Record<string, number>>) => ({
  warmup: period,
  half: false,
  prepare({ close }) {
    this.bands = bollinger(close, period, width);
  },
  decide(i, { close }, _account, orders) {
    const [trade] = orders.trades;
    if (trade === undefined) {
      this.half = false;
      if (close[i]! < this.bands.lower[i]) orders.buy({ stopLossFraction: stop });
    } else if (close[i]! >= this.bands.upper[i]) orders.close(1, "upper band");
    else if (!this.half && close[i]! >= this.bands.middle[i] && close[i]! > trade.entryPrice) {
      this.half = true;
      orders.closeTrade(trade.trade, 0.5, "middle band");
      orders.protect(trade.trade, { stopLoss: trade.entryPrice });
    }
  },
}));
