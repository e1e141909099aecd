import { expect } from "@std/expect";
import { zscore } from "../../../engine/indicators/zscore.ts";
import { walk } from "./prices.ts";

Deno.test("zscore() of 2, 4, 4, 4, 5, 5, 7, 9 puts the 9 two deviations above the mean", () => {
  // The mean is 5, the deviation 2.
  expect([...zscore(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9), 8)]).toEqual([...Array(7).fill(NaN), 2]);
});

Deno.test("zscore() agrees with its definition in every window", () => {
  const values = walk(300);
  const scores = zscore(values, 20);
  for (let i = 19; i < 300; i++) {
    const window = values.subarray(i - 19, i + 1);
    const mean = window.reduce((sum, value) => sum + value, 0) / 20;
    const variance = window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 20;
    expect(scores[i]).toBeCloseTo((values[i]! - mean) / Math.sqrt(variance), 8);
  }
});

Deno.test("zscore() of values that do not differ is 0", () => {
  expect([...zscore(Float64Array.of(0.1, 0.1, 0.1), 2)]).toEqual([NaN, 0, 0]);
});
