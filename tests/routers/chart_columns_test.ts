import { expect } from "@std/expect";
import { chooseBuckets, mergeRows } from "../../routers/chart_columns.ts";

// Five candles; the fourth has left the archive.
const TIME = Float64Array.of(1000, 2000, 3000, 4000, 5000);
const RUN = {
  time: TIME,
  equity: Float64Array.of(100, 120, 60, 90, 150),
  position: Float64Array.of(0, 1, 1, -2, 0),
  initialBalance: 100,
};
const CANDLES = {
  time: Float64Array.of(1000, 2000, 3000, 5000),
  open: Float64Array.of(10, 11, 12, 14),
  high: Float64Array.of(15, 13, 14, 16),
  low: Float64Array.of(9, 8, 11, 13),
  close: Float64Array.of(11, 12, 13, 15),
  volume: Float64Array.of(1, 2, 3, 5),
};

Deno.test("buckets keep first, highest, lowest and last, and the deepest drawdown", () => {
  const merged = mergeRows(RUN, CANDLES, 10, chooseBuckets(0, 5, 3));
  expect(merged).toEqual({
    ...{ candles: 5, from: 0, until: 5, step: 2 },
    time: [1000, 3000, 5000],
    open: [10, 12, 14],
    high: [15, 14, 16],
    low: [8, 11, 13],
    close: [12, 13, 15],
    volume: [3, 3, 5],
    equity: [120, 90, 150],
    // The peak of 120 falls to 60.
    drawdown: [0, 0.5, 0],
    position: [1, -2, 0],
    // 100 bought at 10 and valued at 12, 13 and 15.
    buy_hold: [120, 130, 150],
  });
});

Deno.test("a part of a run begins at a whole bucket and knows the peak before it", () => {
  const merged = mergeRows(RUN, CANDLES, 10, chooseBuckets(3, 5, 1));
  expect(merged).toMatchObject({ from: 2, step: 2, time: [3000, 5000], drawdown: [0.5, 0], open: [12, 14] });
});

Deno.test("a candle that is not held any more has no price, and the curve goes on", () => {
  const merged = mergeRows(RUN, CANDLES, NaN, chooseBuckets(3, 4, 10));
  expect(merged).toMatchObject({ from: 3, step: 1, open: [null], high: [null], close: [null], volume: [null] });
  expect(merged).toMatchObject({ equity: [90], drawdown: [0.25], position: [-2], buy_hold: [null] });
});
