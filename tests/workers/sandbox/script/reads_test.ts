import { expect } from "@std/expect";
import { Reads } from "../../../../workers/sandbox/script/reads.ts";
import { playScript } from "./scripts.ts";

Deno.test("details of trades are kept for scripts that read them, and not for those whose options and parameters have their names", () => {
  const reading = [
    "orders.trades[0].stopLoss",
    "for (const { trade, tag } of orders.trades) {}",
    "orders.trades.filter(({ profit }) => profit > 0)",
    "orders.trades.map(({ bestPrice }, n) => n)",
    "const { entry_index } = orders.trades[0]",
    "const [copy] = orders.trades.map((trade) => ({ ...trade }))",
    "Object.entries(orders.trades[0])",
  ];
  const others = [
    "orders.buy({ stopLoss: 1, tag: text }); orders.trades.length",
    "strategy(({ stopLoss, takeProfit }) => ({ decide: () => orders.trades }))",
    "orders.protect(orders.trades[0].trade, { stopLoss: 1 })",
    "self.order = orders.buy(); orders.trades",
    "orders.buy().profit",
  ];
  expect(reading.filter((source) => !new Reads(source).hasDetails)).toEqual([]);
  expect(others.filter((source) => new Reads(source).hasDetails)).toEqual([]);
});

Deno.test("a trade that is shown whole has its details, though the script names none", async () => {
  const decide = "if (i === 0) orders.buy({ size: 2 }); console.log(orders.trades)";
  const { log } = await playScript(
    `strategy(() => ({ decide(i, candles, account, orders) { ${decide}; } }));`,
    [10, 11, 12],
  );
  // Bought at the second candle's open, 10; candles reach half a point beyond their open and close.
  expect(JSON.parse(log[1]!)).toEqual([{
    ...{ trade: 0, quantity: 2, entryPrice: 10, order: 1, tag: null, entryIndex: 1, entryTime: expect.any(Number) },
    ...{ stopLoss: null, takeProfit: null, trailingStop: null, profit: 2, bestPrice: 11.5, worstPrice: 9.5 },
  }]);
});
