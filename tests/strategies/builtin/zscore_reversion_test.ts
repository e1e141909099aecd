import { expect } from "@std/expect";
import { zscoreReversion } from "../../../strategies/builtin/zscore_reversion.ts";
import { parametersOf, play, type Row } from "./play.ts";

// Scores of three closes. Candle 3: mean 9, deviation 1.41, score -1.41. Candle 4: mean 8.33, deviation 1.25, score -0.27.
// Candle 5: the same mean and deviation, score 1.34.
const ROWS = [10, 10, 10, 7, 8, 10, 9.5].map((price): Row => [price, price, price, price]);

Deno.test("zscore-reversion enters beyond its entry score and leaves at its exit score", () => {
  const settings = { period: 3, entry: 1, direction: "long" };
  expect(play(zscoreReversion, ROWS, settings)).toEqual([
    { side: "long", quantity: 1, entry: [4, 8], exit: [6, 9.5, "signal"], pnl: 1.5 },
  ]);
  expect(play(zscoreReversion, ROWS, { ...settings, exit: 0.5 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8], exit: [5, 10, "signal"], pnl: 2 },
  ]);
  expect(play(zscoreReversion, ROWS, { ...settings, entry: 1.5 })).toEqual([]);
});

Deno.test("zscore-reversion in both directions turns short above its entry score", () => {
  expect(play(zscoreReversion, ROWS, { period: 3, entry: 1 })).toMatchObject([
    { side: "long", exit: [6, 9.5, "signal"] },
    { side: "short", entry: [6, 9.5] },
  ]);
});

Deno.test("zscore-reversion refuses an exit that is no closer than the entry", () => {
  expect(() => zscoreReversion.create(parametersOf(zscoreReversion, { exit: 2 }))).toThrow("2 is not less than 2");
});
