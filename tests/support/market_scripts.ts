/** Strategies over many markets in TypeScript, which modules in other languages are compared with. */

/** Six candles after a loss a market is entered again. Once a trade was half a percent ahead, its stop is at the entry. */
export const CAREFUL_SCRIPT = `portfolio(() => ({
  decide(now, markets, account, orders) {
    for (const { id, i, close, quantity } of markets) {
      if (i < 0) continue;
      const book = orders.of(id);
      for (const { trade, entryPrice, stopLoss, bestPrice, tag } of book.trades) {
        if (tag !== "in") throw new Error("its tag is gone");
        if (bestPrice > 1.005 * entryPrice && stopLoss !== entryPrice) book.protect(trade, { stopLoss: entryPrice });
      }
      const last = account.closedTrades.find(({ market }) => market === id);
      const mayEnter = last === undefined || last.profit > 0 || i - last.exitIndex >= 6;
      if (quantity !== 0 || book.working.length > 0 || !mayEnter) continue;
      const guards = { stopLossFraction: 0.01, takeProfitFraction: 0.02 };
      const size = { size: 0.2, sizeBy: "equity_fraction" };
      book.buy({ limitPrice: 0.998 * close[i], candlesMax: 3, ...size, ...guards, tag: "in" });
    }
  },
}));`;

/** The rule of the example, rising_markets, in a script. */
export const RISING_SCRIPT = `portfolio(({ days = 3 }) => ({
  warmup: days,
  prepare(markets) { this.means = markets.map((m) => sma(m.inputs.daily.close, days)); },
  decide(now, markets, account, orders) {
    const rising = markets.filter((m) => m.isMember && m.i >= 0 && m.close[m.i] > this.means[m.index][m.i]);
    orders.target(Object.fromEntries(rising.map((m) => [m.id, 1 / rising.length])), { minTrade: 0.05 });
  },
}));`;
