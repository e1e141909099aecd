import { expect } from "@std/expect";
import { measureSplits, splitTrials } from "../../research/cross_validation.ts";
import { measureOf } from "../../research/luck/measures.ts";
import { type LuckReport, measureLuck, type Trials } from "../../research/overfitting.ts";
import { plateau } from "../../research/plateau.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import type { Space } from "../../research/space.ts";
import { naiveSplits } from "./naive_splits.ts";

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

function luckOf(returns: Float64Array[], more: Partial<Trials> = {}): LuckReport {
  const sharpes = returns.map((column) => {
    const mean = column.reduce((sum, each) => sum + each, 0) / column.length;
    return mean / Math.sqrt(column.reduce((sum, each) => sum + (each - mean) ** 2, 0));
  });
  return measureLuck({ ...GIVEN, ...ofReturns(returns), best: sharpes.indexOf(Math.max(...sharpes)), ...more });
}

const GIVEN = {
  objective: "sharpe",
  direction: "max",
  best: 0,
  trades: 100,
  benchmark: null,
  periodsPerYear: 365,
  riskFreeRate: 0,
  plateau: 1,
  seed: 0,
} as const;

const ofReturns = (returns: Float64Array[]) => ({
  trials: returns.length,
  returns,
  numbers: returns.map((_, i) => i + 1),
});

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

Deno.test("figures of cross-validation are those of a slow count of all 12,870 splits, by each kind of objective", () => {
  for (
    const [objective, direction, shared] of [["sharpe", "max", 0], ["total_return", "max", 0.8], [
      "max_drawdown",
      "min",
      0.5,
    ]] as const
  ) {
    const returns = invent({ seed: 1, trials: 5, days: 75, skill: 0.2, shared });
    // Equal trials share ranks, and one that never trades has a value without skill.
    const flat = objective === "max_drawdown" ? [] : [new Float64Array(75)];
    const trials = [...returns, returns[2]!, ...flat];
    const naive = naiveSplits(trials.map((each) => [...each]), objective);
    const given = { returns: trials, measure: measureOf(objective, 365), direction, riskFree: 0 };
    // One thread looks at all splits, or several at a part each.
    for (const parts of [1, 3]) {
      const split = Array.from({ length: parts }, (_, part) => splitTrials(given, { part, parts }));
      const figures = measureSplits(split);
      if ("reason" in figures) throw new Error(figures.reason);
      expect(figures.overfitting_probability).toBe(naive.overfitting_probability);
      expect(figures.loss_probability).toBe(naive.loss_probability);
      expect(figures.median_rank).toBeCloseTo(naive.median_rank, 12);
      expect(figures.degradation_slope).toBeCloseTo(naive.degradation_slope, 6);
      expect(figures).toEqual(measureSplits([splitTrials(given, { part: 0, parts: 1 })]));
    }
  }
});

Deno.test("of pure noise, the reality check and the deflated Sharpe ratio say luck, and of an edge they do not", () => {
  const noise = SEEDS.map((seed) => luckOf(invent({ seed, trials: 50, days: 365 })));
  expect(noise.filter(({ luck }) => luck.verdict === "beyond_luck").length).toBeLessThanOrEqual(7);
  expect(noise.filter(({ overfitting }) => (overfitting.deflated_sharpe ?? 1) > 0.95).length).toBeLessThanOrEqual(7);
  // The raw probability is fooled: 50 trials without skill have a best one that looks sure.
  expect(noise.filter(({ overfitting }) => (overfitting.probabilistic_sharpe ?? 0) > 0.95).length)
    .toBeGreaterThanOrEqual(80);
  // Half of the best ones lie above the median of the best ones.
  const above = noise.filter(({ luck }) => (luck.best ?? 0) > (luck.expected_best ?? 0)).length;
  expect(above).toBeGreaterThanOrEqual(35);
  expect(above).toBeLessThanOrEqual(65);
  // Independent trials count as about as many as they are.
  const independent = noise.map(({ overfitting }) => overfitting.independent_trials).toSorted((a, b) => a - b);
  expect(independent[50]).toBeGreaterThan(35);
  expect(noise[0]!.luck.conclusion).toMatch(
    /^Treat the best trial as luck: without any skill, the best of these 50 trials/,
  );
  const edges = SEEDS.slice(0, 40).map((seed) => luckOf(invent({ seed, trials: 50, days: 730, skill: 0.3 })));
  expect(edges.filter(({ luck }) => luck.verdict === "beyond_luck").length).toBeGreaterThanOrEqual(38);
  expect(edges.filter(({ overfitting }) => (overfitting.deflated_sharpe ?? 0) > 0.95).length).toBeGreaterThanOrEqual(
    38,
  );
  expect(edges.filter(({ luck }) => luck.survivors?.best[0] === 4).length).toBeGreaterThanOrEqual(38);
  expect(edges[0]!.luck.conclusion).toMatch(/^Luck alone does not explain the best trial: /);
  const { haircut_sharpe: haircut, sharpe, minimum_track_record_days: days } = edges[0]!.overfitting;
  expect(haircut).toBeLessThan(sharpe ?? 0);
  expect(days).toBeLessThan(730);
  const weekly = luckOf(invent({ seed: SEEDS[0]!, trials: 50, days: 730, skill: 0.3 }), { daysPerReturn: 7 });
  expect(weekly.overfitting.minimum_track_record_days).toBeCloseTo(7 * (days ?? NaN), 9);
});

Deno.test("variations of one idea count as few independent trials", () => {
  const varied = luckOf(invent({ seed: 2, trials: 10, days: 365, shared: 0.95 })).overfitting.independent_trials;
  expect(varied).toBeLessThan(3);
  const twins = invent({ seed: 2, trials: 1, days: 365 });
  const twin = luckOf([twins[0]!, twins[0]!, twins[0]!]).overfitting.independent_trials;
  expect(twin).toBeLessThan(1.5);
});

Deno.test("what is judged has at least 60 daily returns, 20 trades, and returns that vary", () => {
  const returns = invent({ seed: 3, trials: 2, days: 60, skill: 2 });
  expect(luckOf(returns, { trades: 20 }).luck.verdict).not.toBe("too_little");
  expect(luckOf(returns, { trades: 19 }).luck).toMatchObject({ verdict: "too_little", p_value: expect.any(Number) });
  const short = luckOf(returns.map((each) => each.subarray(1)));
  expect(short.luck.conclusion).toBe(
    "Too little to tell: the best trial has 100 closed trades on 59 days, and a judgement needs at least 20 trades and 60 days.",
  );
  // A gain that is the same each day would look sure.
  const constant = [0.001, 0.002].map((gain) => new Float64Array(300).fill(gain));
  for (const objective of ["sharpe", "total_return", "max_drawdown"]) {
    const { verdict, p_value, conclusion } = luckOf(constant, { objective, best: 1 }).luck;
    expect([objective, verdict, p_value]).toEqual([objective, "too_little", null]);
    expect(conclusion).toBe("Too little to tell: the best trial has no daily returns that can be judged.");
  }
});

Deno.test("one trial, equal trials, trials that all lose and an account that is gone are judged in words", () => {
  const [one = new Float64Array(), other = new Float64Array()] = invent({ seed: 6, trials: 2, days: 300 });
  const alone = luckOf([one]).luck;
  expect(alone.conclusion).toMatch(/: without any skill, a trial would reach its Sharpe ratio of /);
  // An equal trial is no other chance.
  expect(luckOf([one, one]).luck.p_value).toBe(alone.p_value);
  const losing = luckOf([one, other].map((each) => each.map((value) => value - 0.004)), { benchmark: one }).luck;
  expect(losing).toMatchObject({ verdict: "luck", survivors: { count: 0 }, against_benchmark: { verdict: "luck" } });
  expect(losing.p_value).toBeGreaterThan(0.9);
  const gone = one.map((value, day) => day === 200 ? -1 : day > 200 ? 0 : value);
  const ruined = luckOf([gone], { objective: "total_return", best: 0 }).luck;
  expect(ruined.verdict).toBe("luck");
  expect(ruined.conclusion).toContain("would reach its net return of −100.00% in ");
  for (const { conclusion } of [alone, losing, ruined]) expect(conclusion).not.toMatch(/NaN|Infinity|-|−0\.00/);
});

Deno.test("the sentence names both tests: no skill, and no better than holding the benchmark", () => {
  const [market = new Float64Array(), noise = new Float64Array()] = invent({ seed: 4, trials: 2, days: 730 });
  const rising = market.map((each) => each + 0.002);
  // It holds the benchmark, and differs by a little noise.
  const holding = rising.map((each, day) => each + noise[day]! / 10);
  const same = luckOf([holding], { benchmark: rising }).luck;
  expect([same.verdict, same.against_benchmark?.verdict]).toEqual(["beyond_luck", "luck"]);
  expect(same.conclusion).toMatch(
    /It is not shown to be better than holding the benchmark: luck alone gives such a lead in \d+\.\d\d%/,
  );
  const better = luckOf([holding.map((each) => each + 0.001)], { benchmark: rising }).luck;
  expect(better.against_benchmark?.verdict).toBe("beyond_luck");
  expect(better.conclusion).toMatch(
    /It also beats holding the benchmark by more than luck explains \(0\.\d\d%\)\.$/,
  );
  expect(luckOf([holding]).luck).toMatchObject({ against_benchmark: null });
});

Deno.test("an objective of which daily returns tell nothing is judged by the Sharpe ratio, which is named", () => {
  const returns = invent({ seed: 5, trials: 4, days: 365 });
  const given = { direction: "min" as const, objective: "trades" };
  expect(luckOf(returns, given).luck).toEqual(luckOf(returns).luck);
  expect(luckOf(returns, given).luck.objective).toBe("sharpe");
  const drawdown = luckOf(returns, { direction: "min", objective: "max_drawdown" });
  expect(drawdown.luck.objective).toBe("max_drawdown");
  // The deflated ratio has a check of its own.
  expect(drawdown.overfitting.deflated_sharpe).not.toBeNull();
});

Deno.test("figures that cannot be computed are null with a reason, and never NaN", () => {
  const flatReturns = [new Float64Array(40), new Float64Array(40)];
  const flat = measureLuck({ ...GIVEN, ...ofReturns(flatReturns), plateau: { reason: "no neighbour" } });
  expect(flat.overfitting).toMatchObject({ sharpe: null, deflated_sharpe: null, haircut_sharpe: null, plateau: null });
  expect(flat.overfitting.undefined_figures).toMatchObject({
    sharpe: "all daily returns are equal",
    deflated_sharpe: "all daily returns are equal",
    plateau: "no neighbour",
  });
  expect(flat.luck).toMatchObject({ verdict: "too_little", p_value: null });
  const [one = new Float64Array()] = invent({ seed: 1, trials: 1, days: 31 });
  const single = measureLuck({ ...GIVEN, ...ofReturns([one]) });
  expect(single.overfitting.deflated_sharpe).toBe(single.overfitting.probabilistic_sharpe);
  expect(single.overfitting.undefined_figures["overfitting_probability"]).toBe("fewer than two trials");
  const short = measureLuck({ ...GIVEN, ...ofReturns([one, one.map((each) => -each)]) });
  expect(short.overfitting.undefined_figures["median_rank"]).toBe("fewer than 32 daily returns");
  const none = measureLuck({ ...GIVEN, ...ofReturns([new Float64Array(1)]) });
  expect(none.luck).toMatchObject({ verdict: "too_little", p_value: null, expected_best: null, survivors: null });
  expect(none.luck.conclusion).toBe("Too little to tell: the best trial has no daily returns that can be judged.");
  expect(JSON.stringify([flat, single, short, none])).not.toContain("NaN");
});

Deno.test("a thousand trials over a year are judged without counting each split day by day", () => {
  const returns = invent({ seed: 9, trials: 1_000, days: 365 });
  const before = performance.now();
  expect(luckOf(returns).overfitting.trials).toBe(1_000);
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
