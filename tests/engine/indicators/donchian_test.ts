import { expect } from "@std/expect";
import { donchian } from "../../../engine/indicators/donchian.ts";
import { walk } from "./prices.ts";

Deno.test("donchian() is the highest high and the lowest low, the present candle included", () => {
  const { upper, lower } = donchian(Float64Array.of(5, 9, 7, 6, 8), Float64Array.of(4, 3, 6, 5, 2), 3);
  expect([...upper]).toEqual([NaN, NaN, 9, 9, 8]);
  expect([...lower]).toEqual([NaN, NaN, 3, 3, 2]);
});

Deno.test("donchian() agrees with its definition in every window", () => {
  const low = walk(400);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  for (const period of [1, 2, 20, 55, 399, 400]) {
    const { upper, lower } = donchian(high, low, period);
    for (let i = 0; i < low.length; i++) {
      const known = i >= period - 1;
      expect(upper[i]).toBe(known ? Math.max(...high.subarray(i - period + 1, i + 1)) : NaN);
      expect(lower[i]).toBe(known ? Math.min(...low.subarray(i - period + 1, i + 1)) : NaN);
    }
  }
});

Deno.test("donchian() is NaN throughout where the window is longer than the series", () => {
  expect([...donchian(Float64Array.of(1), Float64Array.of(1), 2).upper]).toEqual([NaN]);
});
