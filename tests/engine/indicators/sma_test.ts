import { expect } from "@std/expect";
import { sma } from "../../../engine/indicators/sma.ts";
import { MOVING_AVERAGE_CLOSES, walk } from "./prices.ts";

/** The mean of a window in exact arithmetic, rounded once: doubles are integers times a power of two. */
function exactMean(values: Float64Array, end: number, period: number): number {
  const scaleBits = 120;
  let sum = 0n;
  for (let i = end - period + 1; i <= end; i++) {
    let value = values[i]!;
    let bits = 0;
    while (!Number.isInteger(value)) {
      value *= 2;
      bits++;
    }
    sum += BigInt(value) << BigInt(scaleBits - bits);
  }
  const quotient = (sum << 80n) / BigInt(period);
  return Number(quotient) / 2 ** (scaleBits + 80);
}

Deno.test("sma() gives the published ten-day example", () => {
  // The 10-day SMA of the same page.
  // Both are printed in cents and were computed from more digits: half a cent each way.
  const published = [
    ...[22.22, 22.21, 22.23, 22.26, 22.31, 22.42, 22.61, 22.77, 22.91, 23.08, 23.21],
    ...[23.38, 23.53, 23.65, 23.71, 23.69, 23.61, 23.51, 23.43, 23.28, 23.13],
  ];
  const means = sma(MOVING_AVERAGE_CLOSES, 10);
  expect([...means.subarray(0, 9)]).toEqual(Array(9).fill(NaN));
  for (let i = 0; i < published.length; i++) expect(Math.abs(means[i + 9]! - published[i]!)).toBeLessThanOrEqual(0.01);
});

Deno.test("sma() of whole numbers, worked by hand", () => {
  expect([...sma(new Float64Array([1, 2, 3, 4, 5, 6, 7]), 3)]).toEqual([NaN, NaN, 2, 3, 4, 5, 6]);
  expect([...sma(new Float64Array([5, 7]), 1)]).toEqual([5, 7]);
  expect([...sma(new Float64Array([5, 7]), 2)]).toEqual([NaN, 6]);
});

Deno.test("sma() is NaN throughout where the window is longer than the series", () => {
  expect([...sma(new Float64Array([1, 2]), 3)]).toEqual([NaN, NaN]);
  expect(sma(new Float64Array(0), 3).length).toBe(0);
});

Deno.test("sma() of equal prices is that price, for every window", () => {
  const prices = new Float64Array(500).fill(0.1);
  for (const period of [1, 3, 7, 10, 20, 50, 99, 200]) {
    const means = sma(prices, period);
    for (let i = period - 1; i < prices.length; i++) expect(means[i]).toBe(0.1);
  }
});

Deno.test("sma() rounds each mean once, as exact arithmetic does", () => {
  const prices = walk(700);
  for (const period of [2, 3, 10, 33, 200]) {
    const means = sma(prices, period);
    for (let i = period - 1; i < prices.length; i++) expect(means[i]).toBe(exactMean(prices, i, period));
  }
});

Deno.test("sma() forgets a candle that has left the window, however large it was", () => {
  const prices = new Float64Array(1000).fill(0.3);
  prices[5] = 1e15;
  const means = sma(prices, 10);
  for (let i = 15; i < prices.length; i++) expect(means[i]).toBe(0.3);
});

Deno.test("sma() refuses a period that is not a positive whole number", () => {
  for (const period of [0, -1, 2.5, NaN, Infinity]) {
    expect(() => sma(new Float64Array(3), period)).toThrow(
      `with a period of ${period}: it must be a whole number from 1`,
    );
  }
});
