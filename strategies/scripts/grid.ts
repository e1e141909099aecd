/// <reference path="./strategy.d.ts" />
/** Buys at evenly spaced prices below the start, and sells each purchase one step higher. */
strategy(({ levels, spacing, fraction, floor }: {
  levels: number;
  spacing: number;
  fraction: number;
  floor: number;
}) => {
  const waiting: (OrderNumber | undefined)[] = [];
  let start = NaN;
  let ended = false;
  return {
    decide(i, { close }, account, orders) {
      if (ended) return;
      if (Number.isNaN(start)) start = close[i]!;
      if (floor > 0 && close[i]! <= start * (1 - floor)) {
        ended = true;
        orders.cancelAll();
        if (account.quantity > 0) orders.close(1, "floor");
        return;
      }
      // A lower purchase has a lower target and is sold first, so open trades fill the grid from the top.
      const held = orders.trades.length;
      if (held + orders.working.length >= levels) return;
      const working = new Set(orders.working);
      for (let level = held; level < levels; level++) {
        const order = waiting[level];
        if (order !== undefined && working.has(order)) continue;
        const limitPrice = start * (1 - spacing * (level + 1));
        const size = account.initialBalance * fraction / levels / limitPrice;
        waiting[level] = orders.buy({ limitPrice, size, takeProfitFraction: spacing });
      }
    },
  };
});
