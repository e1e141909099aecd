import { expect } from "@std/expect";
import { sliceCandles } from "../../../market/archive/candle_columns.ts";
import {
  type Buckets,
  chooseBuckets,
  CurveBuckets,
  PriceBuckets,
  toChart,
} from "../../../routers/backtests/chart_columns.ts";

// Five candles; the fourth has left the archive.
const TIME = Float64Array.of(1000, 2000, 3000, 4000, 5000);
const RUN = {
  time: TIME,
  equity: Float64Array.of(100, 120, 60, 90, 150),
  position: Float64Array.of(0, 1, 1, -2, 0),
};
const CANDLES = {
  time: Float64Array.of(1000, 2000, 3000, 5000),
  open: Float64Array.of(10, 11, 12, 14),
  high: Float64Array.of(15, 13, 14, 16),
  low: Float64Array.of(9, 8, 11, 13),
  close: Float64Array.of(11, 12, 13, 15),
  volume: Float64Array.of(1, 2, 3, 5),
};

/** The chart of the run, whose initial balance is 100, made from pieces of a number of rows. */
function draw(firstClose: number, buckets: Buckets, pieceRows = 5) {
  const curve = new CurveBuckets(100, buckets);
  for (let row = 0; row < 5; row += pieceRows) {
    const cut = (values: Float64Array) => values.subarray(row, row + pieceRows);
    if (!curve.add({ time: cut(RUN.time), equity: cut(RUN.equity), position: cut(RUN.position) })) break;
  }
  const prices = new PriceBuckets(curve);
  for (let row = 0; row < 4; row += pieceRows) prices.add(sliceCandles(CANDLES, row, Math.min(4, row + pieceRows)));
  return toChart(5, buckets, curve, prices, { balance: 100, close: firstClose, closes: prices.close });
}

Deno.test("buckets keep first, highest, lowest and last, and the deepest drawdown", () => {
  const merged = draw(10, chooseBuckets(0, 5, 3));
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
  const merged = draw(10, chooseBuckets(3, 5, 1));
  expect(merged).toMatchObject({ from: 2, step: 2, time: [3000, 5000], drawdown: [0.5, 0], open: [12, 14] });
});

Deno.test("a candle that is not held any more has no price, and the curve goes on", () => {
  const merged = draw(NaN, chooseBuckets(3, 4, 10));
  expect(merged).toMatchObject({ from: 3, step: 1, open: [null], high: [null], close: [null], volume: [null] });
  expect(merged).toMatchObject({ equity: [90], drawdown: [0.25], position: [-2], buy_hold: [null] });
});

Deno.test("a chart does not depend on the pieces that it is made from", () => {
  for (
    const buckets of [chooseBuckets(0, 5, 3), chooseBuckets(1, 4, 2), chooseBuckets(3, 5, 1), chooseBuckets(5, 5, 1)]
  ) {
    const whole = draw(10, buckets);
    for (const rows of [1, 2, 3, 4]) expect(draw(10, buckets, rows)).toEqual(whole);
  }
});
