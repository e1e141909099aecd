import { expect } from "@std/expect";
import { drawSparkline } from "../../../db/codec/sparkline.ts";

Deno.test("a short curve is drawn whole, as fractions of the balance in four digits", () => {
  expect(drawSparkline(Float64Array.of(1000, 1234.56, 0, -50), 1000)).toEqual([1, 1.235, 0, -0.05]);
  expect(drawSparkline(new Float64Array(60).fill(2e300), 1e-3)).toEqual(Array(60).fill(2e303));
  expect(drawSparkline(new Float64Array(0), 1)).toEqual([]);
});

Deno.test("a long curve keeps its ends and extremes in at most 60 points", () => {
  const equity = Float64Array.from({ length: 100_000 }, (_, i) => 100 + Math.sin(i / 9000));
  equity.set([7, 9000], 54_321);
  const drawn = drawSparkline(equity, 100);
  expect(drawn.length).toBe(60);
  expect([drawn[0], drawn.at(-1)]).toEqual([1, Number((equity.at(-1)! / 100).toPrecision(4))]);
  expect(drawn.slice(drawn.indexOf(0.07), drawn.indexOf(0.07) + 2)).toEqual([0.07, 90]);
  expect(drawSparkline(new Float64Array(61).fill(5), 5)).toEqual(Array(60).fill(1));
});
