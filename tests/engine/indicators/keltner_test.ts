import { expect } from "@std/expect";
import { atr } from "../../../engine/indicators/atr.ts";
import { ema } from "../../../engine/indicators/ema.ts";
import { keltner } from "../../../engine/indicators/keltner.ts";
import { walk } from "./prices.ts";

Deno.test("keltner() of an average of one and a range of two, worked by hand", () => {
  // True ranges 2, 4 and 6; their averages of two are 3, then 3 + (6 - 3) / 2 = 4.5.
  const high = Float64Array.of(12, 15, 18);
  const low = Float64Array.of(10, 12, 12);
  const close = Float64Array.of(11, 12, 18);
  const { upper, middle, lower } = keltner(high, low, close, { average: 1, range: 2 }, 2);
  expect([...middle]).toEqual([11, 12, 18]);
  expect([...upper]).toEqual([NaN, 18, 27]);
  expect([...lower]).toEqual([NaN, 6, 9]);
});

Deno.test("keltner() lies average ranges around an exponential average", () => {
  const low = walk(200);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  const { upper, middle, lower } = keltner(high, low, low, { average: 20, range: 10 }, 1.5);
  const ranges = atr(high, low, low, 10);
  expect([...middle]).toEqual([...ema(low, 20)]);
  expect(upper.findIndex((value) => !Number.isNaN(value))).toBe(19);
  for (let i = 19; i < 200; i++) {
    expect(upper[i]! - middle[i]!).toBeCloseTo(1.5 * ranges[i]!, 9);
    expect(middle[i]! - lower[i]!).toBeCloseTo(1.5 * ranges[i]!, 9);
  }
});
