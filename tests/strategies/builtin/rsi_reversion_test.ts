import { expect } from "@std/expect";
import { rsiReversion } from "../../../strategies/builtin/rsi_reversion.ts";
import { parametersOf, play, type Row } from "./play.ts";

// RSI of two changes. Candle 2: rises 1, falls 0.5, 66.7. Candle 3 (-3): 0.5 and 1.75, 22.2. Candle 4 (+1): 0.75 and
// 0.875, 46.2. Candle 5 (+2): 1.375 and 0.4375, 75.9. Candle 6 (-1.5): 0.6875 and 0.96875, 41.5.
const ROWS: readonly Row[] = [
  [10, 10, 10, 10],
  [12, 12, 12, 12],
  [11, 11, 11, 11],
  [8, 8, 8, 8],
  [8.5, 9, 7.5, 9],
  [9, 11, 9, 11],
  [10.5, 10.5, 9.5, 9.5],
  [9.25, 9.25, 9, 9],
];

Deno.test("rsi-reversion that is long only buys below 30 and leaves at 50", () => {
  expect(play(rsiReversion, ROWS, { period: 2, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [6, 10.5, "signal"], pnl: 2 },
  ]);
});

Deno.test("rsi-reversion in both directions turns short above 70 and covers at 50", () => {
  expect(play(rsiReversion, ROWS, { period: 2 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [6, 10.5, "signal"], pnl: 2 },
    { side: "short", quantity: 1, entry: [6, 10.5], exit: [7, 9.25, "signal"], pnl: 1.25 },
  ]);
});

Deno.test("rsi-reversion does not buy again after a stop while the RSI stays low", () => {
  // The stop at 8.5 x 0.9 = 7.65 is touched on candle 4; the RSI has not been back above 30 from there to candle 5.
  expect(play(rsiReversion, ROWS, { period: 2, direction: "long", stopLossLevel: 0.1 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 8.5], exit: [4, 7.65, "stop_loss"], pnl: -0.85 },
  ]);
});

Deno.test("rsi-reversion refuses an exit outside of its levels", () => {
  expect(() => rsiReversion.create(parametersOf(rsiReversion, { exit: 80 }))).toThrow("80 is not between 30 and 70");
});
