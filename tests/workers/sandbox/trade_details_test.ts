/** The trades and fills of a script, beside what a person reckons. */
import { expect } from "@std/expect";
import { playPython } from "./python/python_scripts.ts";
import { type Played, playScript } from "./script/scripts.ts";

/** The stop is at 97, then at 99, which the last candle reaches. */
const CLOSES = [100, 102, 104, 101, 103, 95, 96];
const SCRIPTS: Readonly<Record<string, (source: string) => Promise<Played>>> = {
  typescript: (source) => playScript(source, CLOSES),
  python: (source) => playPython(source, CLOSES),
};
const TOLD: Readonly<Record<string, string>> = {
  typescript: `const { log } = console;
strategy(() => ({
  decide(i, candles, account, orders) {
    if (i === 0) orders.buy({ size: 1, stopLoss: 97, takeProfit: 120, tag: "in" });
    for (const t of orders.trades) {
      log(i, t.trade, t.quantity, t.entryPrice, t.order, t.tag, t.entryIndex, t.entryTime, t.stopLoss, t.takeProfit,
        t.trailingStop ?? "none", t.profit, t.bestPrice, t.worstPrice);
      if (i === 3) orders.protect(t.trade, { stopLoss: 99 });
      if (i === 4) orders.protect(t.trade, { takeProfit: null });
    }
    for (const c of account.closedTrades) log(i, c.trade, c.tag, c.profit, c.exitReason);
  },
  onFill(f) {
    log("fill", f.order ?? "none", f.trade, f.side, f.quantity, f.price, f.fee, f.index, f.tag, f.exitReason ?? "none");
  },
  onClose(c) {
    log("close", c.trade, c.order, c.tag, c.quantity, c.entryIndex, c.entryPrice, c.exitIndex, c.exitPrice, c.exitReason,
      c.profit, c.fees, c.bestPrice, c.worstPrice);
  },
}));`,
  python: `
def log(*values):
    print(*(int(each) if isinstance(each, float) and each.is_integer() else "none" if each is None else each for each in values))

class Told(Strategy):
    def decide(self, i, candles, account, orders):
        if i == 0:
            orders.buy(size=1, stop_loss=97, take_profit=120, tag="in")
        for t in orders.trades:
            log(i, t.trade, t.quantity, t.entry_price, t.order, t.tag, t.entry_index, t.entry_time, t.stop_loss,
                t.take_profit, t.trailing_stop, t.profit, t.best_price, t.worst_price)
            if i == 3:
                orders.protect(t.trade, stop_loss=99)
            if i == 4:
                orders.protect(t.trade, take_profit=None)
        for c in account.closed_trades:
            log(i, c.trade, c.tag, c.profit, c.exit_reason)

    def on_fill(self, f):
        log("fill", f.order, f.trade, f.side, f.quantity, f.price, f.fee, f.index, f.tag, f.exit_reason)

    def on_close(self, c):
        log("close", c.trade, c.order, c.tag, c.quantity, c.entry_index, c.entry_price, c.exit_index, c.exit_price,
            c.exit_reason, c.profit, c.fees, c.best_price, c.worst_price)
`,
};
const ENTERED = Date.UTC(2024, 0, 2);
const LINES = [
  "fill 1 0 buy 1 100 0 1 in none",
  `1 0 1 100 1 in 1 ${ENTERED} 97 120 none 2 102.5 99.5`,
  `2 0 1 100 1 in 1 ${ENTERED} 97 120 none 4 104.5 99.5`,
  `3 0 1 100 1 in 1 ${ENTERED} 97 120 none 1 104.5 99.5`,
  `4 0 1 100 1 in 1 ${ENTERED} 99 120 none 3 104.5 99.5`,
  "fill none 0 sell 1 99 0 5 in stop_loss",
  "close 0 1 in 1 1 100 5 99 stop_loss -1 0 104.5 99",
  "5 0 in -1 stop_loss",
  "6 0 in -1 stop_loss",
];

Deno.test("a script reads what is known of its trades, is told of fills, and moves one guard at a time", async (t) => {
  for (const [language, play] of Object.entries(SCRIPTS)) {
    await t.step(language, async () => expect((await play(TOLD[language]!)).log).toEqual(LINES));
  }
});
