/// <reference path="./strategy.d.ts" />
/** Trades breakouts of the price channel with stop orders that wait at its edges. */
strategy(({ entry, exit, direction, takeProfitLevel, stopLossLevel }: {
  entry: number;
  exit: number;
  direction: "long" | "both";
  takeProfitLevel: number;
  stopLossLevel: number;
}) => {
  const guards = { takeProfitFraction: takeProfitLevel || undefined, stopLossFraction: stopLossLevel || undefined };
  const [buy, sell, leave] = [waitingStop("buy"), waitingStop("sell"), waitingStop()];
  return {
    warmup: Math.max(entry, exit),
    prepare({ high, low }) {
      this.entries = donchian(high, low, entry);
      this.exits = donchian(high, low, exit);
    },
    decide(i, _candles, { quantity }, orders) {
      if (quantity === 0) {
        leave.withdraw(orders);
        buy.wait(orders, { stopPrice: this.entries.upper[i], ...guards });
        if (direction === "both") sell.wait(orders, { stopPrice: this.entries.lower[i], ...guards });
      } else {
        buy.withdraw(orders);
        sell.withdraw(orders);
        const stopPrice = quantity > 0 ? this.exits.lower[i] : this.exits.upper[i];
        leave.wait(orders, { stopPrice, size: Math.abs(quantity), reduceOnly: true }, quantity > 0 ? "sell" : "buy");
      }
    },
  };
});

/** One stop order that is kept working at a price. It is placed anew only when its price or size changes. */
function waitingStop(usualSide: "buy" | "sell" = "sell") {
  let order: OrderNumber | null = null;
  let last: OrderOptions = {};
  return {
    wait(orders: Orders, options: OrderOptions, side = usualSide): void {
      const isWorking = order !== null && orders.isWorking(order);
      if (isWorking && options.stopPrice === last.stopPrice && options.size === last.size) return;
      last = options;
      order = isWorking && order !== null ? orders.replace(order, side, options) : orders[side](options);
    },
    withdraw(orders: Orders): void {
      if (order !== null) orders.cancel(order);
      order = null;
    },
  };
}
