import { expect } from "@std/expect";
import { openingRange } from "../../../engine/indicators/opening_range.ts";

Deno.test("openingRange() is known at the close of its last candle, and holds to the next anchor", () => {
  const anchors = Float64Array.of(5, 0, 1, 2, 3, 0, 0, 1);
  const high = Float64Array.of(9, 4, 6, 7, 5, 3, 8, 2);
  const low = Float64Array.of(1, 3, 2, 1, 0, 2, 4, 1);
  const { upper, lower } = openingRange(high, low, anchors, 2);
  // The day at candle 5 is over after one candle: it has no range.
  expect([...upper]).toEqual([NaN, NaN, 6, 6, 6, NaN, NaN, 8]);
  expect([...lower]).toEqual([NaN, NaN, 2, 2, 2, NaN, NaN, 1]);
});

Deno.test("openingRange() of one candle is that candle's", () => {
  const { upper, lower } = openingRange(Float64Array.of(4, 6), Float64Array.of(3, 2), Float64Array.of(0, 1), 1);
  expect([[...upper], [...lower]]).toEqual([[4, 4], [3, 3]]);
});
