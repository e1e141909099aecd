/// <reference path="../strategy.d.ts" />
/** Trades a cross of hours only while the last whole day closed above the mean of `days` daily closes. */
strategy(({ fast = 8, slow = 24, days = 20 }: Partial<Record<string, number>>) => ({
  ...{ closes: [] as number[], isUp: false },
  prepare({ time, close }) {
    this.fast = ema(close, fast);
    this.slow = ema(close, slow);
    this.candle = tradingDay(time).candle;
  },
  decide(i, { close }, account, orders) {
    if (i > 0 && this.candle[i] === 0) {
      this.closes = [...this.closes, close[i - 1]!].slice(-days);
      const mean = this.closes.reduce((sum: number, each: number) => sum + each, 0) / this.closes.length;
      this.isUp = this.closes.length === days && close[i - 1]! > mean;
    }
    if (account.quantity === 0 && this.isUp && crossesAbove(this.fast, this.slow, i)) orders.buy();
    else if (account.quantity > 0 && (!this.isUp || crossesBelow(this.fast, this.slow, i))) orders.close();
  },
}));
