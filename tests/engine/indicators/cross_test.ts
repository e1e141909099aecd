import { expect } from "@std/expect";
import { crossesAbove } from "../../../engine/indicators/cross.ts";

const crosses = (a: readonly number[], b: readonly number[], throughTouch = true) =>
  crossesAbove(Float64Array.from(a), Float64Array.from(b), a.length - 1, throughTouch);

Deno.test("crossesAbove() is below before and above now", () => {
  for (const throughTouch of [true, false]) {
    expect(crosses([1, 3], [2, 2], throughTouch)).toBe(true);
    expect(crosses([3, 1], [2, 2], throughTouch)).toBe(false);
    expect(crosses([3, 4], [2, 2], throughTouch)).toBe(false);
  }
});

Deno.test("crossesAbove() sees a cross through candles that touch exactly, if they count", () => {
  expect(crosses([1, 2, 3], [2, 2, 2])).toBe(true);
  expect(crosses([1, 2, 2, 2, 3], [2, 2, 2, 2, 2])).toBe(true);
  expect(crosses([1, 2, 3], [2, 2, 2], false)).toBe(false);
});

Deno.test("crossesAbove() ignores a touch that is not left, or left where it came from", () => {
  expect(crosses([1, 2], [2, 2])).toBe(false);
  expect(crosses([3, 2, 3], [2, 2, 2])).toBe(false);
  expect(crosses([2, 3], [2, 2])).toBe(false);
});

Deno.test("crossesAbove() is false while a line has no value", () => {
  expect(crosses([NaN, 3], [2, 2])).toBe(false);
  expect(crosses([1, 3], [NaN, 2])).toBe(false);
  expect(crosses([NaN, 2, 3], [2, 2, 2])).toBe(false);
  expect(crosses([1], [0])).toBe(false);
});
