import { expect } from "@std/expect";
import { countSplits, overfittingProbability } from "../../research/cross_validation.ts";
import { chooseConsidered, measureOverfitting, type Overfitting } from "../../research/overfitting.ts";
import { plateau } from "../../research/plateau.ts";
import { Random } from "../../research/random_numbers.ts";
import type { Space } from "../../research/space.ts";
import { countIndependent } from "../../research/trial_clusters.ts";
import { isLuckBySharpe, isLuckBySplits } from "../../research/verdict.ts";
import { correlation, naiveOverfittingProbability } from "./naive_overfitting.ts";

interface Invented {
  readonly seed: number;
  readonly trials: number;
  readonly days: number;
  /** A day's Sharpe ratio of trial 3. */
  readonly skill?: number;
  /** How much of each return is that of a group of ten trials. */
  readonly shared?: number;
}

function invent({ seed, trials, days, skill = 0, shared = 0 }: Invented): Float64Array[] {
  const random = new Random(seed);
  let common = new Float64Array(days);
  return Array.from({ length: trials }, (_, trial) => {
    if (trial % 10 === 0) common = Float64Array.from({ length: days }, () => random.normal());
    const own = Math.sqrt(1 - shared);
    return common.map((each) => 0.01 * (Math.sqrt(shared) * each + own * random.normal() + (trial === 3 ? skill : 0)));
  });
}

function luckOf(returns: Float64Array[]): Overfitting {
  const sharpes = returns.map((column) => {
    const mean = column.reduce((sum, each) => sum + each, 0) / column.length;
    return mean / Math.sqrt(column.reduce((sum, each) => sum + (each - mean) ** 2, 0));
  });
  return measureOverfitting({
    trials: returns.length,
    returns,
    best: sharpes.indexOf(Math.max(...sharpes)),
    periodsPerYear: 365,
    riskFreeRate: 0,
    plateau: 1,
  });
}

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

Deno.test("the probability of overfitting is that of a slow count of all 12,870 splits", () => {
  for (const shared of [0, 0.8]) {
    const returns = invent({ seed: 1, trials: 7, days: 75, skill: 0.2, shared });
    // Equal trials share ranks, and one that never trades has a ratio of 0.
    const trials = [...returns, returns[2]!, new Float64Array(75)];
    const naive = naiveOverfittingProbability(trials.map((each) => [...each]));
    // One thread counts all splits, or several count a part each.
    for (const parts of [1, 3]) {
      const counted = Array.from({ length: parts }, (_, part) => countSplits(trials, 0, { part, parts }));
      expect(overfittingProbability(counted)).toBe(naive);
    }
  }
});

Deno.test("of pure noise, deflated Sharpe ratio and overfitting probability both say luck in 95 of 100 cases", () => {
  const measured = SEEDS.map((seed) => luckOf(invent({ seed, trials: 50, days: 365 })));
  expect(measured.filter((each) => isLuckBySharpe(each.deflated_sharpe ?? 1)).length).toBeGreaterThanOrEqual(95);
  expect(measured.filter((each) => isLuckBySplits(each.overfitting_probability ?? 0)).length).toBeGreaterThanOrEqual(
    95,
  );
  // The raw probability is fooled: 50 trials without skill have a best one that looks sure.
  expect(measured.filter((each) => (each.probabilistic_sharpe ?? 0) > 0.95).length).toBeGreaterThanOrEqual(80);
  expect(measured[0]!.conclusion).toMatch(/^Treat the best trial as luck: the best of about 50 independent trials/);
});

Deno.test("of a planted effect, neither says luck in 95 of 100 cases", () => {
  const measured = SEEDS.map((seed) => luckOf(invent({ seed, trials: 50, days: 730, skill: 0.3 })));
  expect(measured.filter((each) => isLuckBySharpe(each.deflated_sharpe ?? 0)).length).toBeLessThanOrEqual(5);
  expect(measured.filter((each) => isLuckBySplits(each.overfitting_probability ?? 1)).length).toBeLessThanOrEqual(5);
  expect(measured[0]!.conclusion).toMatch(/^Luck alone does not explain the best trial: /);
  const { haircut_sharpe: haircut, sharpe, minimum_track_record_days: days } = measured[0]!;
  expect(haircut).toBeLessThan(sharpe ?? 0);
  expect(days).toBeLessThan(730);
});

Deno.test("variations of one idea are one independent trial", () => {
  const groups = invent({ seed: 2, trials: 60, days: 365, shared: 0.8 });
  expect(countIndependent(groups, 60)).toBe(6);
  expect(countIndependent(invent({ seed: 2, trials: 60, days: 365 }), 60)).toBe(60);
  const never = [new Float64Array(365), new Float64Array(365)];
  expect(countIndependent([...groups, ...never], 62)).toBe(7);
  expect(countIndependent(never, 2)).toBe(1);
  // By the definition, from the first trial to the last.
  const mixed = invent({ seed: 3, trials: 80, days: 60, shared: 0.5 });
  const leaders: Float64Array[] = [];
  for (const trial of mixed) {
    if (!leaders.some((leader) => correlation([...leader], [...trial]) >= 0.5)) leaders.push(trial);
  }
  expect(countIndependent(mixed, 80)).toBe(leaders.length);
});

Deno.test("trials that were not considered count as the considered ones do", () => {
  expect(countIndependent(invent({ seed: 2, trials: 60, days: 365 }), 600)).toBe(600);
  expect(countIndependent(invent({ seed: 2, trials: 60, days: 365, shared: 0.8 }), 600)).toBe(6);
  expect(chooseConsidered(3, 1)).toEqual([0, 1, 2]);
  expect(chooseConsidered(1_000_000, 7, 4)).toEqual([7, 250_000, 500_000, 750_000]);
  expect(chooseConsidered(1_000_000, 999_999, 4)).toEqual([0, 250_000, 500_000, 999_999]);
});

Deno.test("figures that cannot be computed are null with a reason, and never NaN", () => {
  const flat = measureOverfitting({
    trials: 2,
    returns: [new Float64Array(40), new Float64Array(40)],
    best: 0,
    periodsPerYear: 365,
    riskFreeRate: 0,
    plateau: { reason: "no neighbour" },
  });
  expect(flat).toMatchObject({ sharpe: null, deflated_sharpe: null, haircut_sharpe: null, plateau: null });
  expect(flat.undefined_figures).toMatchObject({
    sharpe: "all daily returns are equal",
    deflated_sharpe: "all daily returns are equal",
    plateau: "no neighbour",
  });
  expect(flat.conclusion).toMatch(/^Nothing can be concluded/);
  const [one = new Float64Array()] = invent({ seed: 1, trials: 1, days: 31 });
  const single = measureOverfitting({ ...SINGLE, returns: [one] });
  expect(single.deflated_sharpe).toBe(single.probabilistic_sharpe);
  expect(single.undefined_figures["overfitting_probability"]).toBe("fewer than two trials");
  const short = measureOverfitting({ ...SINGLE, trials: 2, returns: [one, one.map((each) => -each)] });
  expect(short.undefined_figures["overfitting_probability"]).toBe("fewer than 32 daily returns");
  expect(JSON.stringify([flat, single, short])).not.toContain("NaN");
});

const SINGLE = { trials: 1, best: 0, periodsPerYear: 365, riskFreeRate: 0, plateau: 1 };

Deno.test("a thousand trials over a year are judged without counting each split day by day", () => {
  const returns = invent({ seed: 9, trials: 1_000, days: 365 });
  const before = performance.now();
  expect(luckOf(returns).trials).toBe(1_000);
  // About a second; a count of splits day by day takes an hour.
  expect(performance.now() - before).toBeLessThan(60_000);
});

Deno.test("a plateau compares the best point with those one step away", () => {
  const space: Space = {
    axes: [{ name: "a", count: 5, first: 1, step: 1, decimals: 0 }, {
      name: "b",
      count: 5,
      first: 1,
      step: 1,
      decimals: 0,
    }],
  };
  const objectives = new Map([[12, 2], [7, 1], [17, 1.5], [11, 1.2], [13, 0], [6, 100]]);
  // Medians by hand: of 0, 1, 1.2, 1.5 it is 1.1.
  expect(plateau(space, 12, (index) => objectives.get(index))).toBeCloseTo(0.55, 14);
  const drawdowns = new Map([[0, 0.1], [1, 0.2], [5, 0.2]]);
  expect(plateau(space, 0, (index) => drawdowns.get(index), "min")).toBe(0.5);
  expect(plateau(space, 24, () => null)).toEqual({ reason: "no neighbour of the best trial has a value" });
  expect(plateau(space, 0, () => -1)).toEqual({
    reason: "the best trial's value is not above 0, so shares of it mean nothing",
  });
});
