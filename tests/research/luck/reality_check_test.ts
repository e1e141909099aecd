import { expect } from "@std/expect";
import { MEASURED_OBJECTIVES, measureOf } from "../../../research/luck/measures.ts";
import { type CheckedTrials, checkReality } from "../../../research/luck/reality_check.ts";
import { drawResamples } from "../../../research/luck/resamples.ts";
import { chooseConsidered, trialsConsidered } from "../../../research/luck/considered_trials.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import { naiveCheck, OBJECTIVES } from "./naive_luck.ts";

const YEAR = 252;

/** Trials that share a part of each day; the first ones have an edge, and the last ones lose. */
function invent(trials: number, days: number, seed = 1): Float64Array[] {
  const random = new Random(seed);
  const shared = Float64Array.from({ length: days }, () => random.normal());
  return Array.from({ length: trials }, (_, trial) => {
    const edge = trial < 3 ? 0.4 - 0.02 * trial : trial > trials - 4 ? -0.4 : 0;
    return shared.map((each) => 0.01 * (0.6 * each + 0.8 * random.normal() + edge));
  });
}

function check(returns: Float64Array[], objective: string, more: Partial<CheckedTrials> = {}) {
  const measure = measureOf(objective, YEAR);
  const direction = ["max_drawdown", "annual_volatility"].includes(objective) ? "min" : "max";
  const given = { returns, best: 0, measure, direction, less: 0, resamples: 99, seed: 7, ...more } as const;
  const values = returns.map((_, best) => checkReality({ ...given, best, resamples: 1 }).best);
  const best = values.indexOf(direction === "max" ? Math.max(...values) : Math.min(...values));
  return checkReality({ ...given, best });
}

Deno.test("the reality check, its SPA and its step-down are those of the papers, for each objective", () => {
  // More trials than are held at once, so that a second group takes part.
  const returns = invent(21, 130);
  const orders = drawResamples(99, 130, 7).map((days) => [...days]);
  for (const [objective, { of }] of Object.entries(OBJECTIVES)) {
    expect(of).toBeDefined();
    const { still } = measureOf(objective, YEAR);
    const sign = ["max_drawdown", "annual_volatility"].includes(objective) ? -1 : 1;
    // The cube root of 130 days.
    const given = { objective, sign, still, orders, blockDays: 5 } as const;
    const naive = naiveCheck({ returns: returns.map((each) => [...each]), ...given });
    const { survivors, distribution, ...figures } = check(returns, objective);
    expect([objective, figures.best]).toEqual([objective, expect.closeTo(naive.best, 9)]);
    expect([objective, figures.expected_best]).toEqual([objective, expect.closeTo(naive.expected_best, 9)]);
    expect([objective, figures.p_value, figures.spa_p_value]).toEqual([objective, naive.p_value, naive.spa_p_value]);
    expect([objective, survivors.best.toSorted((a, b) => a - b)]).toEqual([objective, naive.survivors.slice(0, 10)]);
    expect([objective, survivors.count]).toEqual([objective, naive.survivors.length]);
    expect(distribution.counts.reduce((total, each) => total + each)).toBe(99);
  }
  expect(check(returns, "sharpe")).toMatchObject({ p_value: 0.01, survivors: { best: [0, 1, 2] } });
  // Objectives that are others by another name.
  expect(MEASURED_OBJECTIVES.filter((name) => !(name in OBJECTIVES))).toEqual(["cagr", "final_equity"]);
});

Deno.test("a guided search counts as as many as its start has independent trials, for each figure", () => {
  const returns = invent(30, 130);
  const orders = drawResamples(99, 130, 7).map((days) => [...days]);
  const starts = Array.from({ length: 12 }, (_, i) => i + 6);
  for (const objective of ["sharpe", "max_drawdown", "total_return"]) {
    const { still } = measureOf(objective, YEAR);
    const sign = objective === "max_drawdown" ? -1 : 1;
    const given = { objective, sign, still, orders, blockDays: 5, starts } as const;
    const naive = naiveCheck({ returns: returns.map((each) => [...each]), ...given });
    const found = check(returns, objective, { starts });
    for (const name of ["searches", "p_value", "spa_p_value"] as const) {
      expect([objective, name, found[name]]).toEqual([objective, name, expect.closeTo(naive[name], 9)]);
    }
    expect([objective, found.survivors.count]).toEqual([objective, naive.survivors.length]);
    const plain = check(returns, objective);
    expect([objective, plain.searches, found.searches > 2]).toEqual([objective, 1, true]);
    expect(found.expected_best * sign).toBeGreaterThan(plain.expected_best * sign);
    expect(found.distribution.counts.reduce((total, each) => total + each)).toBe(99);
  }
});

Deno.test("a start of equal trials counts as one search, one of independent trials as many, and a search without guidance as one", () => {
  const random = new Random(5);
  const draw = () => Float64Array.from({ length: 250 }, () => 0.01 * random.normal());
  const independent = Array.from({ length: 40 }, draw);
  const starts = Array.from({ length: 20 }, (_, i) => i);
  const searchesOf = (returns: Float64Array[], places: number[]) =>
    check(returns, "sharpe", { resamples: 499, starts: places }).searches;
  expect(searchesOf(independent, starts)).toBeGreaterThan(15);
  expect(searchesOf(independent, starts)).toBeLessThanOrEqual(20);
  const equal = independent.map((own, i) => i < 20 ? independent[0]! : own);
  expect(searchesOf(equal, starts)).toBeCloseTo(1, 1);
  // Nothing followed the start, so nothing was guided.
  expect(searchesOf(independent.slice(0, 20), starts)).toBe(1);
  // Trials that never trade are equal, too.
  expect(searchesOf([...starts.map(() => new Float64Array(250)), ...independent], starts)).toBe(1);
});

Deno.test("against a benchmark, its returns are taken off each day of every trial", () => {
  const returns = invent(5, 130);
  const benchmark = invent(1, 130, 9)[0]!;
  const less = returns.map((column) => column.map((each, day) => each - benchmark[day]!));
  for (const objective of ["sharpe", "total_return", "max_drawdown"]) {
    expect(check(returns, objective, { less: benchmark })).toEqual(check(less, objective));
  }
});

Deno.test("poor trials count against the best one in the reality check, and not in the SPA test", () => {
  const random = new Random(3);
  const days = 250;
  const good = Float64Array.from({ length: days }, () => 0.01 * (random.normal() + 0.2));
  // Poor trials vary twenty times as much as the good one, and lose half of that a day.
  const poor = Array.from({ length: 30 }, () => Float64Array.from({ length: days }, () => 0.2 * random.normal() - 0.1));
  const alone = check([good], "total_return", { resamples: 499 });
  const among = check([good, ...poor], "total_return", { resamples: 499 });
  expect(alone.p_value).toBeLessThan(0.05);
  expect(among.p_value).toBeGreaterThan(0.5);
  expect(among.spa_p_value).toBeLessThan(0.05);
});

Deno.test("a resample keeps the days of all trials together, in blocks whose mean length is the cube root of the days", () => {
  const days = 1000;
  const drawn = drawResamples(200, days, 5);
  expect(drawn.every((order) => order.every((day) => day >= 0 && day < days))).toBe(true);
  const breaks = drawn.map((order) => order.filter((day, i) => i > 0 && day !== (order[i - 1]! + 1) % days).length);
  // A block of 10 days ends at one day in ten: 99.9 of 999, and a block that follows by chance is rare.
  expect(breaks.reduce((total, each) => total + each) / 200).toBeCloseTo(99.8, -1);
  // Each day is drawn once in each resample, in the mean.
  const counts = new Float64Array(days);
  for (const order of drawn) for (const day of order) counts[day]!++;
  expect(Math.max(...counts)).toBeLessThan(300);
  expect(Math.min(...counts)).toBeGreaterThan(100);
  expect(drawResamples(2, days, 5)[1]).toEqual(drawn[1]);
  expect(drawResamples(1, days, 6)[0]).toEqual(drawn[1]);
});

Deno.test("a trial that never moves has no skill, and no figure of it is NaN", () => {
  const flat = [new Float64Array(100), new Float64Array(100)];
  for (const objective of MEASURED_OBJECTIVES) {
    const figures = checkReality({
      returns: flat,
      best: 1,
      measure: measureOf(objective, YEAR),
      direction: "max",
      less: 0,
      resamples: 9,
      seed: 0,
    });
    expect([objective, figures.p_value, figures.spa_p_value, figures.survivors.count]).toEqual([objective, 1, 1, 0]);
    expect(JSON.stringify(figures)).not.toContain("null");
  }
});

Deno.test("of many trials, the best ones and others evenly are compared", () => {
  expect(chooseConsidered([5, 1, 9], "max", 3)).toEqual([0, 1, 2]);
  // The best three are 9, 8 and 7; of the seven others, the first, the third and the fifth.
  expect(chooseConsidered([0, 9, 1, 8, 2, 7, 3, 6, 4, 5], "max", 6)).toEqual([0, 1, 3, 4, 5, 7]);
  expect(chooseConsidered([0, 9, 1, 8, 2, 7], "min", 2)).toEqual([0, 1]);
  expect(chooseConsidered([NaN, 3, NaN, 4], "max", 2)).toEqual([0, 3]);
  expect(trialsConsidered({ kind: "sums" }, 365)).toBe(1000);
  // Paths are walked day by day: ten years of them are fewer.
  expect(trialsConsidered({ kind: "path" }, 3650)).toBe(110);
  expect(trialsConsidered({ kind: "path" }, 1e9)).toBe(2);
});
