import { expect } from "@std/expect";
import { bollinger } from "../../../engine/indicators/bollinger.ts";

Deno.test("bollinger() gives a published example of five bars", () => {
  // Great-Trades, "Bollinger Bands calculation", whose squares are rounded: middle 26.6, bands 27.808 and 25.392.
  const { upper, middle, lower } = bollinger(Float64Array.of(25.5, 26.75, 27, 26.5, 27.25), 5, 2);
  expect(middle[4]).toBe(26.6);
  expect(upper[4]).toBeCloseTo(27.808, 2);
  expect(lower[4]).toBeCloseTo(25.392, 2);
  expect([...upper.subarray(0, 4)]).toEqual([NaN, NaN, NaN, NaN]);
});

Deno.test("bollinger() of 1 and 3 is 2 with a deviation of 1", () => {
  const { upper, middle, lower } = bollinger(Float64Array.of(1, 3, 3), 2, 1.5);
  expect([upper[1], middle[1], lower[1]]).toEqual([3.5, 2, 0.5]);
  expect([upper[2], middle[2], lower[2]]).toEqual([3, 3, 3]);
});
