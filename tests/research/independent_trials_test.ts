import { expect } from "@std/expect";
import { countIndependent } from "../../research/independent_trials.ts";
import { Random } from "../../research/numbers/random_numbers.ts";

function invent(runs: number, days: number): Float64Array[] {
  const random = new Random(1);
  return Array.from({ length: runs }, () => Float64Array.from({ length: days }, () => 0.01 * random.normal()));
}

Deno.test("runs without anything in common count as many as they are, about", () => {
  const counted = countIndependent(invent(100, 500));
  expect(counted).toBeGreaterThan(75);
  expect(counted).toBeLessThanOrEqual(100);
});

Deno.test("equal runs count as about one, and so do runs of which the others never move", () => {
  const [one] = invent(1, 500);
  expect(countIndependent([one!, one!, one!])).toBeLessThan(1.2);
  expect(countIndependent([one!, new Float64Array(500), new Float64Array(500)])).toBeLessThan(1.6);
});

Deno.test("too few runs or days to compare count as many as they are", () => {
  expect(countIndependent([])).toBe(0);
  expect(countIndependent(invent(1, 500))).toBe(1);
  expect(countIndependent(invent(3, 1))).toBe(3);
});
