/// <reference path="./strategy.d.ts" />
/** Trades breakouts as the Turtles did: in units of equal risk, with more of them as the market moves on. */
strategy(({ entry, exit, range: rangePeriod, units, step, stop, risk, exposure, direction }: {
  entry: number;
  exit: number;
  range: number;
  units: number;
  step: number;
  stop: number;
  risk: number;
  exposure: number;
  direction: "long" | "both";
}) => {
  const [buy, sell, leave] = [waitingStop("buy"), waitingStop("sell"), waitingStop()];
  const waitFor = (order: WaitingStop, orders: Orders, stopPrice: number, away: number, size: number) => {
    if (order.waitsAt(orders, stopPrice)) return;
    const stopLoss = order === buy ? stopPrice - stop * away : stopPrice + stop * away;
    if (stopPrice > 0 && stopLoss > 0) order.wait(orders, { stopPrice, stopLoss, size });
    else order.withdraw(orders);
  };
  /** The average true range of the position, as it was at its first close; NaN without one. */
  let range = NaN;
  return {
    warmup: Math.max(entry, exit, rangePeriod),
    prepare({ high, low, close }) {
      this.entries = donchian(high, low, entry);
      this.exits = donchian(high, low, exit);
      this.ranges = atr(high, low, close, rangePeriod);
    },
    decide(i, { close }, { quantity, equity }, orders) {
      const now = this.ranges[i];
      if (quantity === 0) {
        leave.withdraw(orders);
        range = NaN;
        // Without any movement there is no risk to size by.
        if (!(now > 0)) return;
        const [upper, lower] = [this.entries.upper[i], this.entries.lower[i]];
        const unit = Math.min(risk * equity / now, exposure * equity / (units * upper));
        waitFor(buy, orders, upper, now, unit);
        if (direction === "both") waitFor(sell, orders, lower, now, unit);
        return;
      }
      if (Number.isNaN(range)) range = now;
      const [side, own, other] = quantity > 0 ? [1, buy, sell] as const : [-1, sell, buy] as const;
      other.withdraw(orders);
      const { trades } = orders;
      const newest = trades.at(-1)!.entryPrice;
      for (const { trade } of trades) orders.protect(trade, { stopLoss: newest - side * stop * range });
      const [price, unit] = [newest + side * step * range, own.size()];
      // After a gap, earlier units may have cost more than their share, and the next one be due already.
      const value = (Math.abs(quantity) + unit) * Math.max(price, close[i]!);
      const isPaid = value <= Math.max(1, exposure) * equity;
      if (trades.length < units && isPaid) waitFor(own, orders, price, range, unit);
      else own.withdraw(orders);
      const stopPrice = quantity > 0 ? this.exits.lower[i] : this.exits.upper[i];
      leave.wait(orders, { stopPrice, size: Math.abs(quantity), reduceOnly: true }, quantity > 0 ? "sell" : "buy");
    },
  };
});

type WaitingStop = ReturnType<typeof waitingStop>;

/** One stop order that is kept working at a price. It is placed anew only when its price or size changes. */
function waitingStop(usualSide: "buy" | "sell" = "sell") {
  let order: OrderNumber | null = null;
  let last: OrderOptions = {};
  const isWorking = (orders: Orders) => order !== null && orders.isWorking(order);
  return {
    size: () => last.size ?? NaN,
    waitsAt: (orders: Orders, price: number) => isWorking(orders) && last.stopPrice === price,
    wait(orders: Orders, options: OrderOptions, side = usualSide): void {
      if (isWorking(orders) && options.stopPrice === last.stopPrice && options.size === last.size) return;
      last = options;
      order = order !== null && orders.isWorking(order) ? orders.replace(order, side, options) : orders[side](options);
    },
    withdraw(orders: Orders): void {
      if (order !== null) orders.cancel(order);
      order = null;
    },
  };
}
