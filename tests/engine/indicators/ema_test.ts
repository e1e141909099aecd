import { expect } from "@std/expect";
import { ema } from "../../../engine/indicators/ema.ts";
import { MOVING_AVERAGE_CLOSES } from "./prices.ts";

Deno.test("ema() gives the published ten-day example", () => {
  // The 10-day EMA of the same page, printed in cents and computed from more digits.
  const published = [
    ...[22.22, 22.21, 22.24, 22.27, 22.33, 22.52, 22.80, 22.97, 23.13, 23.28, 23.34],
    ...[23.43, 23.51, 23.54, 23.47, 23.40, 23.39, 23.26, 23.23, 23.08, 22.92],
  ];
  const averages = ema(MOVING_AVERAGE_CLOSES, 10);
  expect([...averages.subarray(0, 9)]).toEqual(Array(9).fill(NaN));
  for (let i = 0; i < published.length; i++) {
    expect(Math.abs(averages[i + 9]! - published[i]!)).toBeLessThanOrEqual(0.01);
  }
});

Deno.test("ema() of three candles moves half of the way", () => {
  // Starts at (2 + 4 + 6) / 3 = 4, then 4 + (8 - 4) / 2 = 6 and 6 + (3 - 6) / 2 = 4.5.
  expect([...ema(Float64Array.of(2, 4, 6, 8, 3), 3)]).toEqual([NaN, NaN, 4, 6, 4.5]);
});

Deno.test("ema() of equal prices is that price", () => {
  expect([...ema(new Float64Array(50).fill(0.1), 7).subarray(6)]).toEqual(Array(44).fill(0.1));
});

Deno.test("ema() skips the warm-up of the column that it smooths", () => {
  expect([...ema(Float64Array.of(NaN, NaN, 2, 4, 9), 2)]).toEqual([NaN, NaN, NaN, 3, 7]); // 3 + (9 - 3) x 2/3
});

Deno.test("ema() is NaN throughout with fewer values than the period", () => {
  expect([...ema(Float64Array.of(1, 2), 3)]).toEqual([NaN, NaN]);
  expect([...ema(Float64Array.of(NaN, 2, 3), 3)]).toEqual([NaN, NaN, NaN]);
});

Deno.test("ema() refuses a period of zero", () => {
  expect(() => ema(Float64Array.of(1), 0)).toThrow(
    "Cannot compute ema with a period of 0: it must be a whole number from 1",
  );
});
