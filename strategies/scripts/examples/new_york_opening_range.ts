/// <reference path="../strategy.d.ts" />
/** Trades the range of the first `candles` after 09:30 in New York, on a market without closing hours, and is out by 16:00. For candles of 30 minutes or less. */
strategy(({ candles = 2 }: Partial<Record<string, number>>) => ({
  prepare({ time, high, low }) {
    const { hour, minute } = local(time, "America/New_York");
    this.minutes = add(multiply(hour, 60), minute);
    this.since = subtract(this.minutes, 9 * 60 + 30);
    this.edges = openingRange(high, low, this.since, candles);
  },
  decide(i, { close }, account, orders) {
    const since = this.since[i];
    const [upper, lower] = [this.edges.upper[i], this.edges.lower[i]];
    if (since === 0) this.isTraded = false;
    if (this.minutes[i] >= 16 * 60 || since < 0) {
      if (account.quantity !== 0) orders.close(1, "end of day");
    } else if (!this.isTraded && account.quantity === 0) {
      if (close[i]! > upper) orders.buy({ stopLoss: lower });
      if (close[i]! < lower) orders.sell({ stopLoss: upper });
      this.isTraded = close[i]! > upper || close[i]! < lower;
    }
  },
}));
