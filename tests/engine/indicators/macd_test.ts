import { expect } from "@std/expect";
import { ema } from "../../../engine/indicators/ema.ts";
import { macd } from "../../../engine/indicators/macd.ts";
import { walk } from "./prices.ts";

Deno.test("macd() of one and three candles, worked by hand", () => {
  // ema(1) is the close; ema(3) is 4, 6, 7 from candle 2. Signal: ema(1) of the line is the line itself.
  const { macd: line, signal, histogram } = macd(Float64Array.of(2, 4, 6, 8, 8), { fast: 1, slow: 3, signal: 1 });
  expect([...line]).toEqual([NaN, NaN, 2, 2, 1]);
  expect([...signal]).toEqual([NaN, NaN, 2, 2, 1]);
  expect([...histogram]).toEqual([NaN, NaN, 0, 0, 0]);
});

Deno.test("macd() with a signal of two candles starts one candle later", () => {
  // Line 2, 2, 1: the signal starts at their mean 2, then 2 + (1 - 2) x 2/3.
  const { signal, histogram } = macd(Float64Array.of(2, 4, 6, 8, 8), { fast: 1, slow: 3, signal: 2 });
  expect([...signal]).toEqual([NaN, NaN, NaN, 2, 2 - 2 / 3]);
  expect([...histogram]).toEqual([NaN, NaN, NaN, 0, 1 - (2 - 2 / 3)]);
});

Deno.test("macd() is the difference of two averages, and its signal their average", () => {
  const closes = walk(200);
  const columns = macd(closes, { fast: 12, slow: 26, signal: 9 });
  const fast = ema(closes, 12);
  const slow = ema(closes, 26);
  expect(columns.macd.findIndex((value) => !Number.isNaN(value))).toBe(25);
  expect(columns.signal.findIndex((value) => !Number.isNaN(value))).toBe(33);
  for (let i = 25; i < 200; i++) expect(columns.macd[i]).toBe(fast[i]! - slow[i]!);
  let mean = 0;
  for (let i = 25; i < 34; i++) mean += columns.macd[i]! / 9;
  expect(columns.signal[33]).toBeCloseTo(mean, 12);
  for (let i = 34; i < 200; i++) expect(columns.histogram[i]).toBe(columns.macd[i]! - columns.signal[i]!);
});
