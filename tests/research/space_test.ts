import { expect } from "@std/expect";
import { parseSpace } from "../../research/parse_space.ts";
import {
  countPoints,
  indexOf,
  neighboursOf,
  placesAt,
  pointAt,
  randomIndices,
  type Space,
} from "../../research/space.ts";

const SCHEMA = {
  type: "object",
  properties: {
    fast: { type: "integer", minimum: 1, maximum: 10 },
    slow: { type: "integer", minimum: 2, maximum: 20, multipleOf: 2 },
    level: { type: "number", minimum: 0, exclusiveMaximum: 1 },
    side: { type: "string", enum: ["both", "long"] },
    active: { type: "boolean" },
    share: { type: "number", minimum: 0.05, maximum: 0.75, multipleOf: 0.1 },
    none: { type: "number" },
  },
  additionalProperties: false,
};

function spaceOf(space: unknown, schema: Record<string, unknown> = SCHEMA, fixed: string[] = []): Space {
  const { value, issues } = parseSpace(space, schema, fixed);
  if (issues !== undefined) throw new Error(JSON.stringify(issues));
  return value;
}

function issuesOf(space: unknown, schema: Record<string, unknown> = SCHEMA, fixed: string[] = []) {
  return parseSpace(space, schema, fixed).issues?.map(({ path, message }) => `${path} ${message}`);
}

const pointsOf = (space: Space) => Array.from({ length: countPoints(space) }, (_, i) => pointAt(space, i));

Deno.test("a space's points are the combinations of its values, the last parameter fastest", () => {
  const space = spaceOf({ fast: { min: 2, max: 4, step: 2 }, side: { values: ["long", "both"] } });
  expect(pointsOf(space)).toEqual([
    { fast: 2, side: "long" },
    { fast: 2, side: "both" },
    { fast: 4, side: "long" },
    { fast: 4, side: "both" },
  ]);
  for (let i = 0; i < 4; i++) expect(indexOf(space, placesAt(space, i))).toBe(i);
  expect(() => pointAt(space, 4)).toThrow("Cannot take point 4 of a space of 4");
});

Deno.test("steps of 0.1 are the numbers that JSON writes, to the last digit", () => {
  const open = { type: "object" };
  const values = (axis: unknown) => pointsOf(spaceOf({ x: axis }, open)).map(({ x }) => JSON.stringify(x)).join(" ");
  expect(values({ min: 0, max: 1, step: 0.1 })).toBe("0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
  expect(values({ min: -0.3, max: 0.35, step: 0.15 })).toBe("-0.3 -0.15 0 0.15 0.3");
  expect(values({ min: 1e-8, max: 4e-8, step: 1.5e-8 })).toBe("1e-8 2.5e-8 4e-8");
  expect(values({ min: 5, max: 5, step: 1 })).toBe("5");
  const long = spaceOf({ x: { min: 0.1, max: 1000, step: 0.1 } }, open);
  expect(countPoints(long)).toBe(10_000);
  const written = Array.from({ length: 10_000 }, (_, i) => Number(`${Math.floor((i + 1) / 10)}.${(i + 1) % 10}`));
  expect(pointsOf(long).map(({ x }) => x)).toEqual(written);
});

Deno.test("a list of numbers is put in order, and a negative zero is zero", () => {
  expect(pointsOf(spaceOf({ x: { values: [30, -0, 4] } }, {})).map(({ x }) => Object.is(x, -0) ? "-0" : x)).toEqual([
    0,
    4,
    30,
  ]);
});

Deno.test("an omitted space is what the schema bounds, fixed parameters aside", () => {
  const space = spaceOf(undefined, SCHEMA, ["active"]);
  expect(space.axes.map(({ name, count }) => `${name} ${count}`)).toEqual(["fast 10", "slow 10", "side 2", "share 7"]);
  expect(countPoints(space)).toBe(1400);
  expect(pointAt(space, 0)).toEqual({ fast: 1, slow: 2, side: "both", share: 0.1 });
  expect(pointAt(space, 1399)).toEqual({ fast: 10, slow: 20, side: "long", share: 0.7 });
  const exclusive = { properties: { x: { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: 4 } } };
  expect(pointsOf(spaceOf(null, exclusive))).toEqual([{ x: 1 }, { x: 2 }, { x: 3 }]);
  expect(issuesOf(undefined, { properties: { x: { type: "number" } } })).toEqual([
    " must have at least one parameter: the schema bounds none that is not fixed",
  ]);
});

Deno.test("a step may be left to the schema", () => {
  expect(pointsOf(spaceOf({ slow: { min: 2, max: 6 } }))).toEqual([{ slow: 2 }, { slow: 4 }, { slow: 6 }]);
  expect(pointsOf(spaceOf({ fast: { min: 2, max: 4 } }))).toEqual([{ fast: 2 }, { fast: 3 }, { fast: 4 }]);
  expect(issuesOf({ level: { min: 0, max: 0.5 } })).toEqual(["/level/step must be a number, not nothing"]);
});

Deno.test("each wrong part of a space is named with its pointer", () => {
  const cases: readonly (readonly [space: unknown, ...issues: string[]])[] = [
    [[], " must be an object of parameters, not []"],
    [{}, " must have at least one parameter"],
    [
      { fats: { min: 1, max: 2, step: 1 } },
      '/fats is not a known parameter; there are "fast", "slow", "level", "side", "active", "share", "none"',
    ],
    [{ fast: 3 }, '/fast must be {"min", "max", "step"} or {"values"}, not 3'],
    [{ fast: { min: 1, max: 5, step: 0 } }, "/fast/step must be more than 0, not 0"],
    [{ fast: { min: 1, max: 5, step: -1 } }, "/fast/step must be more than 0, not -1"],
    [{ fast: { min: 5, max: 1, step: 1 } }, "/fast/min must not be above max: 5 is above 1"],
    [{ fast: { min: NaN, max: 1, step: 1 } }, "/fast/min must be a number, not NaN"],
    [{ fast: { min: 1, max: "9", step: 1 } }, '/fast/max must be a number, not "9"'],
    [{ fast: { min: 1, max: Infinity, step: 1 } }, "/fast/max must be a number, not Infinity"],
    [{ fast: { min: 1, max: 5, stepp: 1 } }, "/fast/stepp is not known: use min, max and step, or values"],
    [{ fast: { min: 0, max: 5, step: 1 } }, "/fast/min gives 0, which must be at least 1"],
    [{ fast: { min: 1, max: 50, step: 1 } }, "/fast/max gives 50, which must be at most 10"],
    [{ fast: { min: 1, max: 5, step: 0.5 } }, "/fast/step gives 1.5, which must be of type integer"],
    [{ slow: { min: 2, max: 6, step: 1 } }, "/slow/step gives 3, which must be a multiple of 2"],
    [{ level: { min: 0, max: 1, step: 0.5 } }, "/level/max gives 1, which must be less than 1"],
    [
      { level: { min: 0, max: 0.5, step: 1e-30 } },
      "/level/step must have fewer digits: min, max and step together are not exact",
    ],
    [
      { none: { min: 0.1, max: 1e15, step: 1 } },
      "/none/step must have fewer digits: min, max and step together are not exact",
    ],
    [{ fast: { values: [] } }, "/fast/values must be a list of at least one value, not []"],
    [{ fast: { values: [1], step: 1 } }, "/fast/step must not stand beside values"],
    [{ fast: { values: [1, 2, 1] } }, "/fast/values/2 names 1 twice"],
    [{ fast: { values: [1, 11] } }, "/fast/values/1 must be at most 10, not 11"],
    [{ fast: { values: [1, "2"] } }, '/fast/values/1 must be of type integer, not "2"'],
    [{ fast: { values: [null] } }, "/fast/values/0 must be a number, true, false or a text of at most 200 characters"],
    [{ side: { values: ["short"] } }, '/side/values/0 must be one of "both", "long", not "short"'],
    [{ runtime: { values: [1] } }, "/runtime is reserved and cannot vary: give it in parameters"],
    [
      { fast: { min: 1, max: 5, step: 0 }, side: { values: [] } },
      "/fast/step must be more than 0, not 0",
      "/side/values must be a list of at least one value, not []",
    ],
  ];
  for (const [space, ...issues] of cases) expect(issuesOf(space)).toEqual(issues);
  expect(issuesOf({ fast: { values: [1] } }, SCHEMA, ["fast"])).toEqual([
    "/fast is fixed in parameters: leave it out there or here",
  ]);
  expect(issuesOf({ "a/b~c": { values: [] } }, {})?.[0]).toMatch(/^\/a~1b~0c\/values /);
  expect(issuesOf(JSON.parse('{"__proto__":{"values":[1]}}'))?.[0]).toMatch(/^\/__proto__ is not a known/);
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, { values: [1, 2] }]));
  expect(issuesOf(many, {})).toEqual([" must have at most 16 parameters, not 17"]);
  expect(issuesOf({ ["p".repeat(201)]: { values: [1] } }, {})).toEqual([
    ` must have names of at most 200 characters, not 201: "${"p".repeat(76)}...`,
  ]);
  const huge = { a: { min: 1, max: 1e9, step: 1 }, b: { min: 1, max: 1e9, step: 1 } };
  expect(issuesOf(huge, {})).toEqual([" must have at most 9007199254740991 points, not about 1.0e+18"]);
});

Deno.test("random points come once each, follow from the seed, and a longer choice begins with the shorter one", () => {
  const space = spaceOf({ a: { min: 1, max: 10, step: 1 }, b: { min: 1, max: 10, step: 1 } }, {});
  const all = [...randomIndices(space, 1_000, 7)];
  expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  expect([...randomIndices(space, 30, 7)]).toEqual(all.slice(0, 30));
  expect([...randomIndices(space, 30, 8)]).not.toEqual(all.slice(0, 30));
  // Each of 10 points is first in a tenth of 10,000 seeds: 1,000 +- 30, and 200 is far beyond that.
  const ten = spaceOf({ a: { min: 1, max: 10, step: 1 } }, {});
  const firsts = new Array<number>(10).fill(0);
  for (let seed = 0; seed < 10_000; seed++) firsts[[...randomIndices(ten, 1, seed)][0]!]!++;
  for (const count of firsts) expect(Math.abs(count - 1_000)).toBeLessThan(200);
});

Deno.test("a space of 2^53 - 1 points is read and chosen from without being written out", () => {
  const space = spaceOf({ a: { min: 1, max: 2 ** 53 - 1, step: 1 } }, {});
  expect(countPoints(space)).toBe(2 ** 53 - 1);
  expect(pointAt(space, 2 ** 53 - 2)).toEqual({ a: 2 ** 53 - 1 });
  const chosen = [...randomIndices(space, 1_000, 1)];
  expect(new Set(chosen).size).toBe(1_000);
  expect(chosen.filter((index) => index > 2 ** 52).length).toBeGreaterThan(400);
});

Deno.test("neighbours are one step away on the axes that have an order", () => {
  const space = spaceOf({
    a: { values: [1, 5, 9] },
    side: { values: ["both", "long"] },
    b: { min: 1, max: 2, step: 1 },
  }, {});
  const start = indexOf(space, [0, 1, 1]);
  expect(neighboursOf(space, start).map((index) => placesAt(space, index))).toEqual([[1, 1, 1], [0, 1, 0]]);
});
