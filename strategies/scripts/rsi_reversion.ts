/// <reference path="./strategy.d.ts" />
/** Buys weakness and sells strength, as Wilder's RSI measures them. */
strategy(({ period, oversold, overbought, exit, direction, takeProfitLevel, stopLossLevel }: {
  period: number;
  oversold: number;
  overbought: number;
  exit: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  if (!(oversold <= exit && exit <= overbought)) throw new RangeError("exit must lie between oversold and overbought");
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  return {
    warmup: period + 2,
    prepare({ close }) {
      this.strength = rsi(close, period);
    },
    decide(i, _candles, { quantity }, orders) {
      const [before, now] = [this.strength[i - 1], this.strength[i]];
      if (quantity <= 0 && before >= oversold && now < oversold) orders.buy(guards);
      else if (direction === "both" && quantity >= 0 && before <= overbought && now > overbought) orders.sell(guards);
      else if ((quantity > 0 && now >= exit) || (quantity < 0 && now <= exit)) {
        // Repeated at each close until flat: volume may have held back a part.
        orders.cancelAll();
        orders.close();
      }
    },
  };
});
