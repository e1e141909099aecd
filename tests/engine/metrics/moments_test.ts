import { expect } from "@std/expect";
import { mean, measureMoments, normalProbability, standardDeviation, sum } from "../../../engine/metrics/moments.ts";

Deno.test("sum() loses no small numbers beside a large total", () => {
  expect(sum(Float64Array.of(1, 1e100, 1, -1e100))).toBe(2);
  expect(sum(new Float64Array(1_000_000).fill(0.1))).toBe(100_000);
  expect(sum(new Float64Array(0))).toBe(0);
});

Deno.test("mean() and standardDeviation() of 2, 4, 4, 4, 5, 5, 7, 9", () => {
  const values = Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9);
  expect(mean(values)).toBe(5);
  expect(standardDeviation(values)).toBe(Math.sqrt(32 / 7));
});

Deno.test("skewness and excess kurtosis of 1, 2, 3, 10", () => {
  // Mean 4, deviations -3 -2 -1 6: squares 50, cubes 180, fourth powers 1394; s^2 = 50/3.
  const values = Float64Array.of(1, 2, 3, 10);
  expect(measureMoments(values).skewness).toBeCloseTo((4 / 6) * 180 / (50 / 3) ** 1.5, 13);
  expect(measureMoments(values).excessKurtosis).toBeCloseTo((20 / 6) * 1394 / (50 / 3) ** 2 - 27 / 2, 12);
});

Deno.test("normalProbability() gives the table's values", () => {
  expect(normalProbability(0)).toBe(0.5);
  expect(normalProbability(1)).toBeCloseTo(0.8413447460685429, 14);
  expect(normalProbability(-1.959963984540054)).toBeCloseTo(0.025, 14);
  expect(normalProbability(4)).toBeCloseTo(0.9999683287581669, 14);
  expect(normalProbability(-40)).toBe(0);
  expect(normalProbability(40)).toBe(1);
});
