import { expect } from "@std/expect";
import { wilder } from "../../../engine/indicators/wilder.ts";

Deno.test("wilder() of four candles moves a quarter of the way", () => {
  // Starts at (1 + 2 + 3 + 6) / 4 = 3, then 3 + (7 - 3) / 4 = 4 and 4 + (0 - 4) / 4 = 3.
  expect([...wilder(Float64Array.of(1, 2, 3, 6, 7, 0), 4)]).toEqual([NaN, NaN, NaN, 3, 4, 3]);
});

Deno.test("wilder() refuses a period that is not whole", () => {
  expect(() => wilder(Float64Array.of(1), 1.5)).toThrow(
    "Cannot compute wilder with a period of",
  );
});
