import { expect } from "@std/expect";
import { acceptor, countLooksMax, countLookTerms, drawPoints, pickNamed } from "../../research/accepted_points.ts";
import { type Constraint, holds, parseConstraints } from "../../research/constraints.ts";
import { parseSpace } from "../../research/parse_space.ts";
import { countPoints, pointAt, type Space } from "../../research/space.ts";

const { value: space } = parseSpace({
  fast: { min: 1, max: 4, step: 1 },
  kind: { values: ["a", "b", "c"] },
  slow: { values: [2, 3, 5.5] },
  "x-rate": { min: 0.1, max: 0.3, step: 0.1 },
}, { type: "object" });

function read(texts: readonly string[], names: readonly string[]): readonly Constraint[] {
  const { value } = parseConstraints(texts, names);
  if (value === undefined) throw new Error(`Cannot read ${texts}`);
  return value;
}

const constraints = read(['fast * "x-rate" < slow - base', "fast != 3"], ["fast", "slow", "x-rate", "base"]);

Deno.test("acceptor() accepts the points that satisfy constraints, as holds() does of all parameters", () => {
  const fixed = { base: 1.5, other: 7 };
  const accepting = { space: space!, constraints, fixed };
  const accepts = acceptor(accepting);
  const all = Array.from({ length: countPoints(space!) }, (_, index) => index);
  const expected = all.filter((index) => holds(constraints, { ...fixed, ...pointAt(space!, index) }));
  expect(expected.length).toBeGreaterThan(10);
  expect(expected.length).toBeLessThan(all.length - 10);
  expect(all.filter(accepts)).toEqual(expected);
});

Deno.test("a look at a point costs what constraints name, and not what a request carries beside it", () => {
  // 32 to draw, 5 names, one number, and 4 for each of 3 axes.
  expect(countLookTerms({ space: space!, constraints })).toBe(32 + 6 + 12);
  expect(countLooksMax({ space: space!, constraints })).toBe(1_000_000);
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`x-${i}`, i]));
  expect(pickNamed(constraints, { ...many, base: 2 })).toEqual({ base: 2 });
});

Deno.test("drawPoints() ends at its bound of draws times terms", () => {
  const wide: Space = {
    axes: [{ name: "a", count: 1e9, first: 1, step: 1, decimals: 0 }],
  };
  const never = read(Array(10).fill(`a < 0${" + 0".repeat(18)}`), ["a"]);
  const accepting = { space: wide, constraints: never, fixed: {} };
  let steps = 0;
  const drawn = drawPoints(accepting, { count: 5, looksMax: 1e6, seed: 1 }, () => void steps++);
  // 50,000,000 / (32 + 200 + 4)
  expect(drawn).toEqual({ points: new Float64Array(), constrained: 211_864 });
  expect(steps).toBe(207);
});
