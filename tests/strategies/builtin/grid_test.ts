import { expect } from "@std/expect";
import { grid } from "../../../strategies/builtin/grid.ts";
import { parametersOf, play, type Row } from "./play.ts";

// From a first close of 100 two levels of 10 % are 90 and 80. Of 200, 90 % is 90 a level: 1 unit and 1.125 units.
const ROWS: readonly Row[] = [
  [100, 100, 100, 100],
  [100, 100, 95, 95],
  [95, 96, 89, 91], // Buys at 90, to be sold at 99.
  [91, 91, 79, 84], // Buys at 80, to be sold at 88.
  [85, 89, 84, 88], // Sells at 88; the limit at 80 waits again.
  [88, 100, 87, 99], // Sells at 99; the limit at 90 waits again.
  [99, 99, 90, 95], // Buys at 90.
];
const GRID = { levels: 2, spacing: 0.1, fraction: 0.9 };

Deno.test("grid buys at its levels, sells each purchase a step higher and waits again", () => {
  expect(play(grid, ROWS, GRID, { initialBalance: 200 })).toEqual([
    { side: "long", quantity: 1, entry: [2, 90], exit: [5, 99, "take_profit"], pnl: 9 },
    { side: "long", quantity: 1.125, entry: [3, 80], exit: [4, 88, "take_profit"], pnl: 9 },
    { side: "long", quantity: 1, entry: [6, 90], exit: null, pnl: 5 },
  ]);
});

Deno.test("grid sells everything and ends at its floor", () => {
  // 15 % below 100: candle 3 closes at 84, so all is sold at the open of candle 4 and nothing is bought after it.
  expect(play(grid, ROWS, { ...GRID, floor: 0.15 }, { initialBalance: 200 })).toEqual([
    { side: "long", quantity: 1, entry: [2, 90], exit: [4, 85, "signal"], pnl: -5 },
    { side: "long", quantity: 1.125, entry: [3, 80], exit: [4, 85, "signal"], pnl: 5.625 },
  ]);
});

Deno.test("grid refuses levels that reach a price of 0", () => {
  expect(() => grid.create(parametersOf(grid, { levels: 10, spacing: 0.1 }))).toThrow(
    "levels x spacing must be less than 1",
  );
});
