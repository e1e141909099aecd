import { expect } from "@std/expect";
import { dca } from "../../../strategies/builtin/dca.ts";
import { play, type Row } from "./play.ts";

const flat = (price: number): Row => [price, price, price, price];
const ROWS = [10, 10, 12, 20, 22, 25, 40, 50, 50, 40].map(flat);

Deno.test("dca buys for a quarter of the money every second candle until the cash is spent", () => {
  // Opens 10, 20, 25 and 50 of candles 1, 3, 5 and 7; the last close is 40.
  expect(play(dca, ROWS, { interval: 2, fraction: 0.25 }, { initialBalance: 100 })).toEqual([
    { side: "long", quantity: 2.5, entry: [1, 10], exit: null, pnl: 75 },
    { side: "long", quantity: 1.25, entry: [3, 20], exit: null, pnl: 25 },
    { side: "long", quantity: 1, entry: [5, 25], exit: null, pnl: 15 },
    { side: "long", quantity: 0.5, entry: [7, 50], exit: null, pnl: -5 },
  ]);
});

Deno.test("dca's last purchase spends the rest", () => {
  expect(play(dca, ROWS.slice(0, 8), { interval: 3, fraction: 0.6 }, { initialBalance: 100 })).toEqual([
    { side: "long", quantity: 6, entry: [1, 10], exit: null, pnl: 240 },
    { side: "long", quantity: 40 / 22, entry: [4, 22], exit: null, pnl: 50.909090909 },
  ].map((trade) => ({
    ...trade,
    quantity: Math.floor(trade.quantity * 1e8) / 1e8,
    pnl: expect.closeTo(trade.pnl, 5),
  })));
});

Deno.test("dca sells each purchase at its own take profit", () => {
  // 50 % above 10 is 15: candle 3 opens at 20, beyond it. 50 % above 20 is 30: candle 6 opens at 40.
  expect(play(dca, ROWS.slice(0, 7), { interval: 2, fraction: 0.25, takeProfitLevel: 0.5 }, { initialBalance: 100 }))
    .toEqual([
      { side: "long", quantity: 2.5, entry: [1, 10], exit: [3, 20, "take_profit"], pnl: 25 },
      { side: "long", quantity: 1.25, entry: [3, 20], exit: [6, 40, "take_profit"], pnl: 25 },
      { side: "long", quantity: 1, entry: [5, 25], exit: [6, 40, "take_profit"], pnl: 15 },
    ]);
});
