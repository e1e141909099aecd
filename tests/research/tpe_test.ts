import { expect } from "@std/expect";
import { ParzenEstimator } from "../../research/parzen.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import { type Axis, countPoints, placesAt, randomIndices, type Space } from "../../research/space.ts";
import { type Observation, splitObservations, suggest } from "../../research/tpe.ts";

function steps(name: string, count: number): Axis {
  return { name, count, first: 0, step: 1, decimals: 0 };
}

const SPACE: Space = {
  axes: [steps("a", 60), steps("b", 60), steps("c", 60), { name: "d", count: 3, values: ["x", "y", "z"] }],
};

/** A hill whose top is at 42, 17, 30 and "y". */
function hill(index: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = placesAt(SPACE, index);
  return -((a - 42) ** 2 + (b - 17) ** 2 + (c - 30) ** 2) / 100 - (d === 1 ? 0 : 3);
}

/** The points that a whole round suggests. */
function suggestAll(...round: Parameters<typeof suggest>): number[] {
  return [...suggest(...round)].filter((index) => index !== null);
}

function optimize(seed: number, budget: number, direction: "max" | "min" = "max"): Observation[] {
  const observations: Observation[] = [];
  const sign = direction === "max" ? 1 : -1;
  while (observations.length < budget) {
    const round = suggestAll(SPACE, observations, 20, { seed, direction, accepts: () => true });
    observations.push(...round.map((index) => ({ index, objective: sign * hill(index) })));
  }
  return observations;
}

const bestOf = (observations: readonly Observation[]) =>
  Math.max(...observations.map(({ objective }) => objective ?? -Infinity));

Deno.test("a density is the mean of its kernels and of an even one, as the definition reads", () => {
  const places = [3, 3, 10, 19];
  const estimator = new ParzenEstimator(steps("a", 20), places);
  // By hand: the larger distance to the next place, or to half a step beyond an end, and at least one step.
  const widths = [3.5, 7, 9, 9];
  const normal = (x: number) => Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
  const mass = (from: number, to: number) => {
    let total = 0;
    for (let i = 0; i < 20_000; i++) total += normal(from + (i + 0.5) * (to - from) / 20_000) * (to - from) / 20_000;
    return total;
  };
  for (const at of [0, 3, 9, 19]) {
    const kernels = places.map((place, i) => {
      const width = widths[i]!;
      return normal((at - place) / width) / width / mass((-0.5 - place) / width, (19.5 - place) / width);
    });
    expect(estimator.at(at)).toBeCloseTo((1 / 20 + kernels.reduce((sum, each) => sum + each)) / 5, 8);
  }
  const total = Array.from({ length: 20 }, (_, place) => estimator.at(place)).reduce((sum, each) => sum + each);
  expect(total).toBeCloseTo(1, 2);
});

Deno.test("on an axis without an order, a density counts", () => {
  const estimator = new ParzenEstimator({ name: "d", count: 3, values: ["x", "y", "z"] }, [1, 1, 2]);
  expect([0, 1, 2].map((place) => estimator.at(place) * 12)).toEqual([1, 7, 4].map((each) => expect.closeTo(each, 12)));
});

Deno.test("places are drawn as often as the density says", () => {
  const estimator = new ParzenEstimator(steps("a", 10), [2, 6]);
  const random = new Random(3);
  const counts = new Array<number>(10).fill(0);
  for (let i = 0; i < 50_000; i++) counts[estimator.draw(random)]!++;
  for (const [place, count] of counts.entries()) {
    expect(Math.abs(count / 50_000 - estimator.at(place))).toBeLessThan(0.01);
  }
});

Deno.test("the good trials are the best 15 %, and one without a value is never good", () => {
  const observations = Array.from({ length: 20 }, (_, index) => ({ index, objective: index % 2 === 0 ? index : null }));
  expect(splitObservations(observations, "max").good.map(({ index }) => index)).toEqual([18, 16, 14]);
  expect(splitObservations(observations, "min").good.map(({ index }) => index)).toEqual([0, 2, 4]);
  expect(splitObservations(observations, "max").others.length).toBe(17);
  const none = observations.map(({ index }) => ({ index, objective: null }));
  expect(splitObservations(none, "max").good).toEqual([]);
  expect(suggestAll(SPACE, none, 5, { seed: 1, accepts: () => true }).length).toBe(5);
});

Deno.test("it finds better points than random ones with the same budget, in most seeds, up as well as down", () => {
  for (const direction of ["max", "min"] as const) {
    let won = 0;
    for (let seed = 0; seed < 20; seed++) {
      const found = direction === "max"
        ? bestOf(optimize(seed, 200))
        : -Math.min(...optimize(seed, 200, "min").map(({ objective }) => objective ?? Infinity));
      const random = [...randomIndices(SPACE, 200, seed)].map(hill);
      if (found > Math.max(...random)) won++;
    }
    expect(won).toBeGreaterThanOrEqual(17);
  }
});

Deno.test("a seed and the same trials give the same points, and no point twice", () => {
  const trials = optimize(4, 120);
  expect(optimize(4, 120)).toEqual(trials);
  expect(optimize(5, 120)).not.toEqual(trials);
  expect(new Set(trials.map(({ index }) => index)).size).toBe(trials.length);
});

Deno.test("only accepted points are suggested, and all of a small space", () => {
  const small: Space = { axes: [steps("a", 6), steps("b", 10)] };
  const observations: Observation[] = [];
  const accepts = (index: number) => index % 2 === 0;
  for (let round = 0; round < 4; round++) {
    const found = suggestAll(small, observations, 12, { seed: 1, accepts });
    observations.push(...found.map((index) => ({ index, objective: index })));
  }
  const even = Array.from({ length: countPoints(small) / 2 }, (_, i) => 2 * i);
  expect(observations.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual(even);
});
