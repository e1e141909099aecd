import { expect } from "@std/expect";
import { LIMIT, type OrderDraft, STOP } from "../../engine/strategy.ts";
import { listTrades, type Row } from "./market.ts";
import { runBoth, units } from "./run_both.ts";

Deno.test("with entryCandleExit same_direction, a trailing stop leaves the entry candle alone", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 104, 99.5, 100.5], [100.8, 100.8, 100.8, 100.8]];
  const decisions = {
    0: (book: { place(draft: OrderDraft): number }) =>
      book.place(units(1, { type: STOP, stopPrice: 102, trailDistance: 3 })),
  };
  // The high of 104 moves the stop from 99 to 101, and the close lies below it.
  expect(listTrades(runBoth(rows, decisions))).toMatchObject([{ entry: [1, 102], exit: [1, 101] }]);
  const library = runBoth(rows, decisions, { entryCandleExit: "same_direction" });
  expect(listTrades(library)).toMatchObject([{ entry: [1, 102], exit: [2, 100.8], reason: "trailing_stop" }]);
});

Deno.test("a stop that the entry price has already passed fills before anything else, whatever comes first", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 104, 97, 101]];
  const result = runBoth(rows, {
    0: (book) => {
      book.place(units(10, { type: LIMIT, limitPrice: 98, stopLoss: 99 }));
      book.place(units(9, { type: STOP, stopPrice: 103 }));
    },
  }, { bothTouched: "target_first" });
  // The 980 of the first are free again when the second needs 927. The open decides nothing.
  expect(listTrades(result)).toMatchObject([{ exit: [1, 98], reason: "stop_loss" }, { entry: [1, 103], exit: null }]);
  expect([...result.trades.ambiguous]).toEqual([0, 0]);
});

Deno.test("a limit price left in a reused draft does not turn a stop order into a stop-limit", () => {
  const rows: Row[] = [[100, 100, 100, 100], [100, 109, 99.5, 107]];
  const buy = units(1, { type: STOP, stopPrice: 103, limitPrice: 90, takeProfit: 108 });
  const result = runBoth(rows, { 0: (book) => book.place(buy) }, { entryCandleExit: "same_direction" });
  expect(listTrades(result)).toMatchObject([{ entry: [1, 103], exit: [1, 108] }]);
});

Deno.test("a trailing stop stays where the best price has moved it", () => {
  const rows: Row[] = [
    [100, 100, 100, 100],
    [100, 110, 100, 109],
    [109, 109, 106.5, 107],
    [107, 108, 105.5, 107],
  ];
  const result = runBoth(rows, {
    0: (book) => book.place(units(1, { trailDistance: 4 })),
    // An order that ends with candle 2 makes the simulator look at that candle, whose high is no new best price.
    1: (book) => book.place(units(1, { type: LIMIT, limitPrice: 1, candlesMax: 1 })),
  });
  expect(listTrades(result)).toMatchObject([{ entry: [1, 100], exit: [3, 106], reason: "trailing_stop" }]);
});
