import { expect } from "@std/expect";
import { emaCross } from "../../../strategies/builtin/ema_cross.ts";
import { parametersOf, play, type Row } from "./play.ts";

// An average of one candle is the close; one of three moves half of the way: 8, 10, 11.5, 10.25, 9.125 from candle 2.
// So the close is below at candle 2 (6), above at 3 (12), below again at 5 (9).
const ROWS: readonly Row[] = [
  [10, 10, 10, 10],
  [8, 8, 8, 8],
  [6, 6, 6, 6],
  [7, 12, 7, 12],
  [12.5, 13.2, 12.4, 13],
  [12, 12.1, 9, 9],
  [8.5, 8.6, 7.9, 8],
];
const PERIODS = { fast: 1, slow: 3 };

Deno.test("ema-cross buys the open after the cross above and turns short after the cross below", () => {
  expect(play(emaCross, ROWS, PERIODS)).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [6, 8.5, "signal"], pnl: -4 },
    { side: "short", quantity: 1, entry: [6, 8.5], exit: null, pnl: 0.5 },
  ]);
});

Deno.test("ema-cross that is long only leaves the market at the cross below", () => {
  expect(play(emaCross, ROWS, { ...PERIODS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [6, 8.5, "signal"], pnl: -4 },
  ]);
});

Deno.test("ema-cross takes profit at a fraction of its entry price, and does not enter again before the next cross", () => {
  expect(play(emaCross, ROWS, { ...PERIODS, direction: "long", takeProfitLevel: 0.04 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [4, 13, "take_profit"], pnl: 0.5 },
  ]);
});

Deno.test("ema-cross stops its loss at a fraction of its entry price", () => {
  expect(play(emaCross, ROWS, { ...PERIODS, direction: "long", stopLossLevel: 0.2 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [5, 10, "stop_loss"], pnl: -2.5 },
  ]);
});

Deno.test("ema-cross refuses a fast period that is not shorter", () => {
  expect(() => emaCross.create(parametersOf(emaCross, { fast: 26 }))).toThrow("fast must be less than slow");
});
