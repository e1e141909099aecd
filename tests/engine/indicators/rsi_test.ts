import { expect } from "@std/expect";
import { rsi } from "../../../engine/indicators/rsi.ts";

Deno.test("rsi() gives the published fourteen-day example", () => {
  // StockCharts, ChartSchool, "Relative Strength Index": closes (there to four digits, here to cents) and their RSI.
  const closes = Float64Array.of(
    ...[44.34, 44.09, 44.15, 43.61, 44.33, 44.83, 45.10, 45.42, 45.84, 46.08, 45.89, 46.03, 45.61, 46.28, 46.28, 46.00],
    ...[46.03, 46.41, 46.22, 45.64, 46.21, 46.25, 45.71, 46.45, 45.78, 45.35, 44.03, 44.18, 44.22, 44.57, 43.42, 42.66],
    43.13,
  );
  const published = [
    ...[70.53, 66.32, 66.55, 69.41, 66.36, 57.97, 62.93, 63.26, 56.06, 62.38],
    ...[54.71, 50.42, 39.99, 41.46, 41.87, 45.46, 37.30, 33.08, 37.77],
  ];
  const strength = rsi(closes, 14);
  expect([...strength.subarray(0, 14)]).toEqual(Array(14).fill(NaN));
  for (let i = 0; i < published.length; i++) expect(Math.abs(strength[i + 14]! - published[i]!)).toBeLessThan(0.1);
});

Deno.test("rsi() of two changes, worked by hand", () => {
  // Changes +2, -1: G = 1, L = 0.5, 100 x 1 / 1.5. Then +3: G = (1 + 3) / 2 = 2, L = 0.25, 100 x 2 / 2.25.
  const strength = rsi(Float64Array.of(10, 12, 11, 14), 2);
  expect([...strength]).toEqual([NaN, NaN, 100 / 1.5, 200 / 2.25]);
});

Deno.test("rsi() is 100 for rising prices, 0 for falling ones and 50 for constant ones", () => {
  expect(rsi(Float64Array.of(1, 2, 3), 2)[2]).toBe(100);
  expect(rsi(Float64Array.of(3, 2, 1), 2)[2]).toBe(0);
  expect(rsi(Float64Array.of(2, 2, 2), 2)[2]).toBe(50);
});

Deno.test("rsi() needs one candle more than its period", () => {
  expect([...rsi(Float64Array.of(1, 2), 2)]).toEqual([NaN, NaN]);
  expect(rsi(new Float64Array(0), 2).length).toBe(0);
});
