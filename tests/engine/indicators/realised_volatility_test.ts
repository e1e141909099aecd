import { expect } from "@std/expect";
import { realisedVolatility } from "../../../engine/indicators/realised_volatility.ts";
import { walk } from "./prices.ts";

const DAY = 86_400_000;

Deno.test("realisedVolatility() of a daily percent is the root of 365 percent", () => {
  const time = Float64Array.from({ length: 5 }, (_, i) => i * DAY);
  const close = Float64Array.of(100, 101, 99.99, 100.9899, 99.980001);
  const volatilities = realisedVolatility(time, close, 2);
  expect([...volatilities.subarray(0, 2)]).toEqual([NaN, NaN]);
  for (const volatility of volatilities.subarray(2)) expect(volatility).toBeCloseTo(0.01 * Math.sqrt(365), 12);
});

Deno.test("realisedVolatility() counts a weekend as the time that it is", () => {
  // Friday to Monday: two returns of 1 % in four days.
  const time = Float64Array.of(0, DAY, 4 * DAY);
  const [, , volatility] = realisedVolatility(time, Float64Array.of(100, 101, 102.01), 2);
  expect(volatility).toBeCloseTo(Math.sqrt(2 * 0.0001 * 365 / 4), 12);
});

Deno.test("realisedVolatility() agrees with its definition in every window", () => {
  const close = walk(200);
  const time = close.map((_, i) => i * 3_600_000 + (i % 7) * 600_000);
  const volatilities = realisedVolatility(time, close, 20);
  for (let i = 20; i < 200; i++) {
    let sum = 0;
    for (let n = i - 19; n <= i; n++) sum += (close[n]! / close[n - 1]! - 1) ** 2;
    expect(volatilities[i]).toBeCloseTo(Math.sqrt(sum / (time[i]! - time[i - 20]!) * 365 * DAY), 10);
  }
});

Deno.test("realisedVolatility() of equal prices is exactly zero", () => {
  const close = new Float64Array(6).fill(0.1);
  expect([...realisedVolatility(close.map((_, i) => i * DAY), close, 2)]).toEqual([NaN, NaN, 0, 0, 0, 0]);
});
