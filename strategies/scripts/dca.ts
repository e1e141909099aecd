/// <reference path="./strategy.d.ts" />
/** Buys for the same amount at fixed intervals, whatever the price, until the cash is spent. */
strategy(({ interval, fraction, takeProfitLevel }: { interval: number; fraction: number; takeProfitLevel: number }) => {
  let next = 0;
  return {
    decide(i, _candles, account, orders) {
      if (i < next) return;
      next = i + interval;
      const amount = account.initialBalance * fraction;
      // A rest of less than a hundredth of a purchase gives no order.
      if (account.cash < amount * 0.01) return;
      const size = Math.min(amount, account.cash);
      orders.buy({ size, sizeBy: "cash", takeProfitFraction: takeProfitLevel || undefined });
    },
  };
});
