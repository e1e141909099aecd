import { expect } from "@std/expect";
import { stddev } from "../../../engine/indicators/stddev.ts";
import { walk } from "./prices.ts";

/** The definition: the root of the mean squared distance from the window's mean. */
function naive(values: Float64Array, end: number, period: number): number {
  const window = values.subarray(end - period + 1, end + 1);
  const mean = window.reduce((sum, value) => sum + value, 0) / period;
  return Math.sqrt(window.reduce((sum, value) => sum + (value - mean) ** 2, 0) / period);
}

Deno.test("stddev() of 2, 4, 4, 4, 5, 5, 7, 9 is 2", () => {
  const deviations = stddev(Float64Array.of(2, 4, 4, 4, 5, 5, 7, 9), 8);
  expect([...deviations]).toEqual([...Array(7).fill(NaN), 2]);
});

Deno.test("stddev() agrees with its definition in every window", () => {
  const prices = walk(600);
  for (const period of [1, 2, 3, 20, 77, 300]) {
    const deviations = stddev(prices, period);
    expect(deviations.findIndex((value) => !Number.isNaN(value))).toBe(period - 1);
    for (let i = period - 1; i < prices.length; i++) expect(deviations[i]).toBeCloseTo(naive(prices, i, period), 10);
  }
});

Deno.test("stddev() of equal prices is exactly zero, also after a jump", () => {
  const prices = Float64Array.from({ length: 100 }, (_, i) => i < 33 ? 1e9 : 0.1);
  const deviations = stddev(prices, 20);
  for (const i of [19, 25, 32, 52, 60, 99]) expect(deviations[i]).toBe(0);
});

Deno.test("stddev() keeps its digits where prices are large and moves small", () => {
  // 1e9 and 1e9 + 0.5 alternate: 0.25 from their mean.
  const prices = Float64Array.from({ length: 50 }, (_, i) => 1e9 + (i % 2) / 2);
  for (const deviation of stddev(prices, 10).subarray(9)) expect(deviation).toBeCloseTo(0.25, 7);
});

Deno.test("stddev() is NaN throughout where the window is longer than the series", () => {
  expect([...stddev(Float64Array.of(1, 2), 3)]).toEqual([NaN, NaN]);
});
