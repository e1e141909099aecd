/// <reference path="./strategy.d.ts" />
/** Trades the breakout of the day's first candles, and is out by the end of the day. */
strategy(({ range, direction, takeProfitLevel }: {
  range: number;
  direction: "long" | "both";
  takeProfitLevel: number;
}) => ({
  warmup: 1,
  prepare({ time, high, low }) {
    this.day = tradingDay(time);
    this.range = openingRange(high, low, this.day.candle, range);
  },
  decide(i, _candles, { quantity }, orders) {
    const candle = this.day.candle[i];
    // An order of the candle before the last one is filled at the open of the last.
    const isLate = candle >= this.day.length[i] - 2;
    const isComplete = candle === range - 1;
    if (isLate || isComplete || candle < range || quantity !== 0) orders.cancelAll();
    if (quantity !== 0 && (isLate || candle < range)) orders.close();
    if (isLate || !isComplete) return;
    const [upper, lower] = [this.range.upper[i], this.range.lower[i]];
    if (!(upper > lower)) return;
    const takeProfitFraction = takeProfitLevel || undefined;
    orders.buy({ stopPrice: upper, stopLoss: lower, takeProfitFraction });
    if (direction === "both") orders.sell({ stopPrice: lower, stopLoss: upper, takeProfitFraction });
  },
}));
