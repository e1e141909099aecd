import { expect } from "@std/expect";
import { atrTrend } from "../../../strategies/builtin/atr_trend.ts";
import { play, type Row } from "./play.ts";

const ROWS: readonly Row[] = [
  [10, 11, 9, 10], // Ranges of two.
  [9, 10, 8, 8],
  [8, 8, 6, 6], // Average of three closes 8: the close is below.
  [7, 12, 6, 12], // Average 10: the close is above. Range 6, average range 2 + (6 - 2) / 2 = 4.
  [12, 14, 11.5, 13], // Buys at 12; the stop trails by 8, from 14 - 8 = 6.
  [14, 21, 13.5, 20], // 21 - 8 = 13.
  [19, 19.5, 11, 11.5], // Falls through 13.
  [11.5, 11.5, 11, 11],
];
const PERIODS = { trend: 3, atr: 2, multiple: 2 };

Deno.test("atr-trend buys the open after the cross and leaves at its trailing stop", () => {
  // Candle 6 closes at 11.5 below the average: with direction both the cross gives a short at the next open.
  expect(play(atrTrend, ROWS, { ...PERIODS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [6, 13, "trailing_stop"], pnl: 1 },
  ]);
  expect(play(atrTrend, ROWS, PERIODS)).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [6, 13, "trailing_stop"], pnl: 1 },
    { side: "short", quantity: 1, entry: [7, 11.5], exit: null, pnl: 0.5 },
  ]);
});

Deno.test("atr-trend takes profit at its level", () => {
  expect(play(atrTrend, ROWS, { ...PERIODS, direction: "long", takeProfitLevel: 0.5 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12], exit: [5, 18, "take_profit"], pnl: 6 },
  ]);
});
