import { expect } from "@std/expect";
import { adxTrend } from "../../../strategies/builtin/adx_trend.ts";
import { play, type Row } from "./play.ts";

// With a period of one, a candle that moves to one side alone has an ADX of 100, and one that moves to none 0.
const ROWS: readonly Row[] = [
  [10, 11, 9, 10],
  [10, 10.5, 8.5, 9], // To a lower low.
  [9, 10, 8.6, 9.5], // Inside the candle before.
  [9.5, 12, 9, 11], // To a higher high.
  [11, 13, 10, 12], // Buys at 11.
  [12, 12.5, 9, 9.5], // To a lower low.
  [9.4, 9.6, 9.2, 9.3], // Leaves at 9.4.
];

Deno.test("adx-trend enters on the side of the trend, and leaves when the lines change places", () => {
  expect(play(adxTrend, ROWS, { period: 1, direction: "long" })).toEqual([
    { side: "long", quantity: 1, entry: [4, 11], exit: [6, 9.4, "signal"], pnl: -1.6 },
  ]);
  expect(play(adxTrend, ROWS, { period: 1 })).toEqual([
    { side: "long", quantity: 1, entry: [4, 11], exit: [6, 9.4, "signal"], pnl: -1.6 },
    { side: "short", quantity: 1, entry: [6, 9.4], exit: null, pnl: 0.1 },
  ]);
});

Deno.test("adx-trend enters once the ADX reaches its threshold, and not while the trend lasts", () => {
  // Moves of 2 up, 1 down, none, 2 up. Averages of two: 1 and 0.5, 0.5 and 0.25, 1.25 and 0.125. Distances in percent of the
  // sums: 33.3, 33.3, 81.8. The ADX begins at candle 3 with their mean of 33.3, then (33.3 + 81.8) / 2 = 57.6.
  const rows: Row[] = [[9, 10, 8, 9], [9, 12, 9, 10], [10, 11, 8, 9], [9, 11, 8, 9], [9, 13, 9, 12], [12, 13, 9, 12]];
  const entries = (threshold: number) => play(adxTrend, rows, { period: 2, threshold }).map(({ entry }) => entry);
  expect([entries(25), entries(50), entries(60)]).toEqual([[], [[5, 12]], []]);
});
