import { expect } from "@std/expect";
import { smaCross } from "../../../strategies/builtin/sma_cross.ts";
import { parametersOf, play, type Row } from "./play.ts";

// An average of one candle is the close; one of two is the mean of two closes: 9, 7, 9, 12.5, 11, 8.5 from candle 1.
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
/** Candles that stand still at a price each. */
const flatCandles = (...prices: number[]): Row[] => prices.map((price) => [price, price, price, price]);
const PERIODS = { fast: 1, slow: 2 };

Deno.test("sma-cross buys the open after the cross above and turns short after the cross below", () => {
  expect(play(smaCross, ROWS, PERIODS)).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [6, 8.5, "signal"], pnl: -4 },
    { side: "short", quantity: 1, entry: [6, 8.5], exit: null, pnl: 0.5 },
  ]);
});

Deno.test("sma-cross that is long only leaves the market at the cross below", () => {
  expect(play(smaCross, ROWS, { ...PERIODS, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [6, 8.5, "signal"], pnl: -4 },
  ]);
});

Deno.test("sma-cross takes profit and stops losses at fractions of its entry price", () => {
  expect(play(smaCross, ROWS, { ...PERIODS, direction: "long", takeProfitLevel: 0.04 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [4, 13, "take_profit"], pnl: 0.5 },
  ]);
  expect(play(smaCross, ROWS, { ...PERIODS, direction: "long", stopLossLevel: 0.2 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 12.5], exit: [5, 10, "stop_loss"], pnl: -2.5 },
  ]);
});

Deno.test("sma-cross ignores averages that touch or stand still", () => {
  const still: Row[] = Array.from({ length: 8 }, () => [10, 10, 10, 10]);
  expect(play(smaCross, still, PERIODS)).toEqual([]);
  // Above at candle 1, equal at candle 2, above at candle 3.
  expect(play(smaCross, flatCandles(10, 12, 12, 14, 15), PERIODS)).toEqual([]);
});

Deno.test("sma-cross crosses through an exact touch, but not by the rule of backtesting.py", () => {
  // Below at candle 2, equal at candle 3, above at candle 4.
  const meets = flatCandles(10, 10, 8, 8, 9, 9);
  expect(play(smaCross, meets, PERIODS)).toEqual([
    { side: "long", quantity: 1, entry: [5, 9], exit: null, pnl: 0 },
  ]);
  expect(play(smaCross, meets, PERIODS, { profile: "backtesting.py" })).toEqual([]);
  expect(play(smaCross, meets, PERIODS, { crossThroughTouch: false })).toEqual([]);
});

Deno.test("sma-cross enters anew at a cross towards its open side where entries are exclusive", () => {
  // Below at candle 2, equal at 3, above at 4 without a cross, and below again at 5.
  const rows = flatCandles(10, 12, 11, 11, 12, 11, 10, 10);
  const once = { side: "short", quantity: 1, entry: [3, 11], exit: null, pnl: 1 };
  expect(play(smaCross, rows, PERIODS, { crossThroughTouch: false })).toEqual([once]);
  expect(play(smaCross, rows, PERIODS, { crossThroughTouch: false, exclusive: "any" })).toEqual([
    { ...once, exit: [6, 10, "signal"] },
    { side: "short", quantity: 1, entry: [6, 10], exit: null, pnl: 0 },
  ]);
});

Deno.test("sma-cross cancels the unfilled rest of its entry when the averages cross again", () => {
  // Of a volume of 10^9: 0.375 units are filled in a candle. It buys at 12.5 and 12, and not at 8.5 while leaving.
  const slippage = { volumeShare: 3.75e-10, impact: 0 };
  const leaving: Row[] = [...ROWS, [8, 8, 8, 8]];
  expect(play(smaCross, leaving, { ...PERIODS, direction: "long" }, { slippage })).toEqual([
    { side: "long", quantity: 0.375, entry: [4, 12.25], exit: [6, 8.5, "signal"], pnl: -1.40625 },
    { side: "long", quantity: 0.375, entry: [4, 12.25], exit: [7, 8, "signal"], pnl: -1.59375 },
  ]);
  // Short from 10, 9 and 8; above at 9, but below again at the next close: the rest of the short stays.
  const turning = [10, 12, 11, 10, 9, 8, 9, 8, 7].map((price): Row => [price, price, price, price]);
  expect(play(smaCross, turning, PERIODS, { slippage })).toEqual([
    { side: "short", quantity: 0.375, entry: [3, 9.125], exit: [7, 8, "signal"], pnl: 0.421875 },
    { side: "short", quantity: 0.625, entry: [3, 9.125], exit: null, pnl: 1.328125 },
  ]);
});

Deno.test("sma-cross refuses a fast period that is not shorter", () => {
  expect(() => smaCross.create(parametersOf(smaCross, { fast: 30, slow: 30 }))).toThrow(
    "fast must be less than slow: 30 is not less than 30",
  );
});
