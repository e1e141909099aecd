import { expect } from "@std/expect";
import type { EquityColumns } from "../../../db/codec/result_parts.ts";
import { CurveGrid } from "../../../routers/backtests/curve_grid.ts";

async function* pieces(...all: readonly (readonly (readonly [time: number, equity: number])[])[]) {
  for (const rows of all) {
    const column = (at: 0 | 1) => Float64Array.from(rows, (row) => row[at]);
    yield await Promise.resolve<EquityColumns>({ time: column(0), equity: column(1), position: column(1) });
  }
}

Deno.test("few candles keep their own times, and each curve is 1 at the common start", async () => {
  const grid = new CurveGrid({ start: 20, end: 50, points: 100 });
  // It began before the start, and ends before the other.
  await grid.draw(pieces([[10, 1], [20, 200]], [[30, 300], [40, 150]]));
  await grid.draw(pieces([[20, 10], [40, 8], [50, 9]]));
  // It has no candle from the start on.
  await grid.draw(pieces([[10, 1]]));
  expect(grid.read()).toEqual({
    time: [20, 30, 40, 50],
    equity: [[1, 1.5, 0.75, null], [1, 1, 0.8, 0.9], [null, null, null, null]],
    drawdown: [[0, 0, 0.5, null], [0, 0, expect.closeTo(0.2, 12), expect.closeTo(0.1, 12)], [null, null, null, null]],
  });
});

Deno.test("many candles share times, with the last equity and the deepest drawdown of each stretch", async () => {
  const grid = new CurveGrid({ start: 0, end: 8, points: 3 });
  await grid.draw(pieces([[0, 10], [1, 20], [2, 5], [3, 10]], [[4, 10], [5, 30], [8, 30]]));
  // Its first candle comes later: it stands at 1 until then.
  await grid.draw(pieces([[6, 2], [7, 1]]));
  // Stretches of 4 after the start: 1 to 3, and 4 to 8.
  expect(grid.read()).toEqual({
    time: [0, 3, 8],
    equity: [[1, 1, 3], [1, 1, 0.5]],
    drawdown: [[0, 0.75, 0.5], [0, 0, 0.5]],
  });
});

Deno.test("curves of one candle, and of no money, have no figures that JSON lacks", async () => {
  const grid = new CurveGrid({ start: 5, end: 5, points: 2 });
  await grid.draw(pieces([[5, 0]]));
  await grid.draw(pieces([[5, 7]]));
  expect(grid.read()).toEqual({ time: [5], equity: [[null], [1]], drawdown: [[null], [0]] });
});
