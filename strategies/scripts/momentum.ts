/// <reference path="./strategy.d.ts" />
/** Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. */
strategy(({ candles: period = 20, stopLoss = 0.1 }: { candles?: number; stopLoss?: number }) => ({
  warmup: period + 1,
  decide(i, { close }, account, orders) {
    const [now, before] = [close[i]!, close[i - period]!];
    if (now > before && account.quantity === 0) orders.buy({ stopLossFraction: stopLoss, tag: "rise" });
    else if (now < before && account.quantity > 0) orders.close();
  },
}));
