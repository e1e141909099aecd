import { expect } from "@std/expect";
import { macdCross } from "../../../strategies/builtin/macd.ts";
import { parametersOf, play, type Row } from "./play.ts";

// The close less its average of three (12, 10, 12, 12 from candle 2) is 0, -2, 2, 0; the signal starts at (0 - 2) / 2 =
// -1 at candle 3 and moves two thirds of the way: 1, then 1/3. So the line is below at 3, above at 4, below at 5.
const ROWS: readonly Row[] = [
  [12, 12, 12, 12],
  [12, 12, 12, 12],
  [12, 12, 12, 12],
  [12, 12, 8, 8],
  [9, 14, 9, 14],
  [13.5, 14, 12, 12],
  [11.5, 11.5, 11, 11.25],
];
const PERIODS = { fast: 1, slow: 3, signal: 2 };

Deno.test("macd buys the open after the line crosses above its signal and turns short after it crosses below", () => {
  expect(play(macdCross, ROWS, PERIODS)).toEqual([
    { side: "long", quantity: 1, entry: [5, 13.5], exit: [6, 11.5, "signal"], pnl: -2 },
    { side: "short", quantity: 1, entry: [6, 11.5], exit: null, pnl: 0.25 },
  ]);
});

Deno.test("macd that is long only leaves the market at the cross below", () => {
  expect(play(macdCross, ROWS, { ...PERIODS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [5, 13.5], exit: [6, 11.5, "signal"], pnl: -2 },
  ]);
});

Deno.test("macd refuses a fast period that is not shorter", () => {
  expect(() => macdCross.create(parametersOf(macdCross, { slow: 12 }))).toThrow("fast must be less than slow");
});
