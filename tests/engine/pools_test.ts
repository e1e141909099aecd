/** Order and trade objects are reused: no state of the earlier one may remain. */
import { expect } from "@std/expect";
import { BY_UNITS, LIMIT } from "../../engine/strategy.ts";
import { listTrades, order, type Row, runOver, script } from "./market.ts";

const A_HUNDREDTH = { slippage: { volumeShare: 0.01, impact: 0 } } as const;
const ten = order({ sizeBy: BY_UNITS, size: 10 });

Deno.test("a reused trade keeps no stops, exit, flag or financing of the earlier one", () => {
  const rows: Row[] = [
    [100, 100, 100, 100],
    [100, 100, 100, 100],
    // Stop and target, with volume for half of the units.
    [100, 111, 94, 100, 500],
    [96, 96, 96, 96],
    [100, 100, 100, 100],
    // Prices of the first trade's stop, target and trailing stop, and then the end of its time stop.
    [100, 112, 79, 100],
    [100, 100, 100, 100],
    [100, 116, 100, 100],
  ];
  const guarded = order({ ...ten, stopLoss: 95, takeProfit: 110, trailDistance: 20, timeStopCandles: 5 });
  const decisions = script({
    0: (book) => book.place(guarded),
    3: (book) => book.place(order({ ...ten, takeProfit: 115 })),
  });
  const result = runOver(rows, decisions, { ...A_HUNDREDTH, fundingRate: 0.001 }, 10_000);
  // Three fundings a day: 3 of 1000 for ten units, and 1.50 for five. The second is carried into candles 5, 6 and 7.
  expect(listTrades(result)).toMatchObject([
    { quantity: 5, exit: [2, 95], reason: "stop_loss", pnl: -26.5 },
    { quantity: 5, exit: [3, 96], reason: "stop_loss", pnl: -23 },
    { quantity: 10, entry: [4, 100], exit: [7, 115], reason: "take_profit", pnl: 141 },
  ]);
  expect([...result.trades.ambiguous]).toEqual([1, 1, 0]);
});

Deno.test("a reused order keeps no size, end or purpose of the earlier one", () => {
  const rows: Row[] = Array.from({ length: 8 }, (_, i): Row => [100, 100, i === 6 ? 94 : 100, 100]);
  const short = order({ ...ten, size: 3, type: LIMIT, limitPrice: 90, candlesMax: 1, stopLoss: 99.5 });
  const result = runOver(
    rows,
    script({
      0: (book) => book.place(short),
      // It reuses the expired order and closes the position.
      1: (book) => book.place(ten),
      2: (book) => book.close(1, null),
      // This one reuses both.
      3: (book) => book.place(order({ sizeBy: BY_UNITS, size: 7, type: LIMIT, limitPrice: 95 })),
      6: (book) => book.place(order({ side: -1, sizeBy: BY_UNITS, size: 3, reduceOnly: true })),
    }),
    {},
    10_000,
  );
  expect(listTrades(result)).toMatchObject([
    { quantity: 10, entry: [2, 100], exit: [3, 100] },
    { quantity: 3, entry: [6, 95], exit: [7, 100] },
    { quantity: 4, entry: [6, 95], exit: null },
  ]);
});
