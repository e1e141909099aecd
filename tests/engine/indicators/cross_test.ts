import { expect } from "@std/expect";
import { crossesAbove } from "../../../engine/indicators/cross.ts";

const crosses = (a: readonly number[], b: readonly number[]) =>
  crossesAbove(Float64Array.from(a), Float64Array.from(b), 1);

Deno.test("crossesAbove() is below before and above now", () => {
  expect(crosses([1, 3], [2, 2])).toBe(true);
  expect(crosses([3, 1], [2, 2])).toBe(false);
  expect(crosses([3, 4], [2, 2])).toBe(false);
});

Deno.test("crossesAbove() ignores a touch, before or now", () => {
  expect(crosses([2, 3], [2, 2])).toBe(false);
  expect(crosses([1, 2], [2, 2])).toBe(false);
});

Deno.test("crossesAbove() is false while a line has no value", () => {
  expect(crosses([NaN, 3], [2, 2])).toBe(false);
  expect(crosses([1, 3], [NaN, 2])).toBe(false);
  expect(crossesAbove(Float64Array.of(1), Float64Array.of(0), 0)).toBe(false);
});
