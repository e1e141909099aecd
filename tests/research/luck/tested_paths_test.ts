import { expect } from "@std/expect";
import { measureOf } from "../../../research/luck/measures.ts";
import { testPaths } from "../../../research/luck/tested_paths.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";

type Series = readonly number[];

const mean = (values: Series) => values.reduce((sum, each) => sum + each, 0) / values.length;

function sharpe(values: Series): number {
  const centre = mean(values);
  const squares = values.reduce((sum, each) => sum + (each - centre) ** 2, 0);
  return centre / Math.sqrt(squares / (values.length - 1)) * Math.sqrt(252);
}

function fall(values: Series): number {
  let [money, peak, worst] = [1, 1, 0];
  for (const each of values) {
    money *= 1 + each;
    peak = Math.max(peak, money);
    worst = Math.max(worst, 1 - money / peak);
  }
  return worst;
}

/** The definition of docs/research.md, day by day. */
function naivePaths(
  trials: readonly Series[],
  score: (values: Series) => number,
  { groups, embargo }: { readonly groups: number; readonly embargo: number },
) {
  const days = trials[0]!.length;
  const partOf = Array.from({ length: days }, (_, day) => {
    let part = 0;
    while (Math.floor((part + 1) * days / groups) <= day) part++;
    return part;
  });
  const paths = Array.from({ length: groups - 1 }, () => new Array<number>(days).fill(0));
  const used = new Array<number>(groups).fill(0);
  for (let one = 0; one < groups; one++) {
    for (let two = one + 1; two < groups; two++) {
      const isTested = (day: number) => partOf[day] === one || partOf[day] === two;
      const isNear = (day: number) =>
        Array.from({ length: 2 * embargo + 1 }, (_, i) => day - embargo + i).some((each) => isTested(each));
      const trained = trials.map((trial) => trial.filter((_, day) => !isNear(day)));
      const scores = trained.map(score);
      const best = scores.indexOf(Math.max(...scores));
      for (const part of [one, two]) {
        const path = paths[used[part]!++]!;
        for (let day = 0; day < days; day++) if (partOf[day] === part) path[day] = trials[best]![day]!;
      }
    }
  }
  return paths;
}

function makeTrials(count: number, days: number): Float64Array[] {
  const random = new Random(11);
  return Array.from({ length: count }, () => Float64Array.from({ length: days }, () => 0.01 * random.normal()));
}

Deno.test("paths are those of a program that goes day by day", () => {
  const returns = makeTrials(5, 237);
  const objectives = [
    ["sharpe", "max", sharpe],
    ["max_drawdown", "min", (values: Series) => -fall(values)],
    ["total_return", "max", (values: Series) => values.reduce((money, each) => money * (1 + each), 1)],
  ] as const;
  const cuts = [[null, { groups: 10, embargo: 3 }], [{ groups: 4, embargoDays: 0 }, { groups: 4, embargo: 0 }], [{
    groups: 16,
    embargoDays: 7,
  }, { groups: 16, embargo: 7 }]] as const;
  for (const [objective, direction, score] of objectives) {
    for (const [pathRules, cut] of cuts) {
      const measure = measureOf(objective, 252);
      const tested = testPaths({ returns, measure, direction, periodsPerYear: 252, riskFreeRate: 0, pathRules });
      const expected = naivePaths(returns.map((trial) => [...trial]), score, cut);
      expect(tested).toMatchObject({ groups: cut.groups, embargo_days: cut.embargo });
      expect(tested?.paths.length).toBe(cut.groups - 1);
      for (const [i, path] of expected.entries()) {
        const own = tested!.paths[i]!;
        expect(own.sharpe).toBeCloseTo(sharpe(path), 9);
        expect(own.total_return).toBeCloseTo(path.reduce((money, each) => money * (1 + each), 1) - 1, 9);
        expect(own.max_drawdown).toBeCloseTo(fall(path), 9);
      }
    }
  }
});

Deno.test("a choice that is always right has nine equal paths, and noise has many", () => {
  const noise = makeTrials(30, 500);
  const trials = (returns: readonly Float64Array[]) => ({
    returns,
    measure: measureOf("sharpe", 252),
    direction: "max" as const,
    periodsPerYear: 252,
    riskFreeRate: 0,
  });
  const skilled = noise.map((trial, i) => i === 7 ? trial.map((each) => each + 0.01) : trial);
  const sure = testPaths(trials(skilled))!.paths.map((path) => path.total_return);
  expect(new Set(sure).size).toBe(1);
  const unsure = testPaths(trials(noise))!.paths.map((path) => path.total_return);
  expect(new Set(unsure).size).toBeGreaterThan(5);
});

Deno.test("there are no paths of one trial, or of few days", () => {
  const trials = { measure: measureOf("sharpe", 252), direction: "max", periodsPerYear: 252, riskFreeRate: 0 } as const;
  expect(testPaths({ ...trials, returns: makeTrials(1, 500) })).toBeNull();
  expect(testPaths({ ...trials, returns: makeTrials(5, 99) })).toBeNull();
  // An embargo of 60 days on either side of 48 days in each of four parts leaves nothing to choose by.
  expect(testPaths({ ...trials, returns: makeTrials(5, 192), pathRules: { groups: 4, embargoDays: 60 } })).toBeNull();
});
