import { expect } from "@std/expect";
import { stochasticTurns } from "../../../strategies/builtin/stochastic.ts";
import { parametersOf, play, type Row } from "./play.ts";

const ROWS: readonly Row[] = [
  [10, 11, 9, 10],
  [10, 11, 9, 10], // 9 to 11: %K 50.
  [9, 10, 8, 8], // 8 to 11: %K 0, %D 25.
  [8, 9, 8, 9], // 8 to 10: %K 50, %D 25: crosses above it.
  [9, 12, 9, 12], // Buys at 9. %K 100, %D 75.
  [12, 12.5, 11.5, 12.5], // Both 100.
  [12, 12.5, 11, 11.4], // 11 to 12.5: %K 26.7, %D 63.3: crosses below, through the touch.
  [11, 11, 11, 11],
];
const SETTINGS = { period: 2, slowing: 1, signal: 2, oversold: 30, overbought: 60 };

Deno.test("stochastic buys a turn below the oversold level, and turns above the overbought one", () => {
  const long = { side: "long", quantity: 1, entry: [4, 9], exit: [7, 11, "signal"], pnl: 2 };
  expect(play(stochasticTurns, ROWS, { ...SETTINGS, direction: "long" })).toEqual([long]);
  expect(play(stochasticTurns, ROWS, SETTINGS)).toEqual([
    long,
    { side: "short", quantity: 1, entry: [7, 11], exit: null, pnl: 0 },
  ]);
});

Deno.test("stochastic leaves turns alone that are not at an extreme, or touch where a touch is no cross", () => {
  expect(play(stochasticTurns, ROWS, { ...SETTINGS, oversold: 20 })).toMatchObject([{ side: "short" }]);
  expect(play(stochasticTurns, ROWS, SETTINGS, { crossThroughTouch: false })).toMatchObject([{
    entry: [4, 9],
    exit: null,
  }]);
});

Deno.test("stochastic refuses levels that overlap", () => {
  expect(() => stochasticTurns.create(parametersOf(stochasticTurns, { oversold: 90 }))).toThrow("90 is above 80");
});
