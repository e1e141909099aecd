/** Tests of the figures of luck against the tables and the closed forms of their papers. */
import { expect } from "@std/expect";
import { measureSplits, splitTrials } from "../../../research/cross_validation.ts";
import { measureOf } from "../../../research/luck/measures.ts";
import { checkReality } from "../../../research/luck/reality_check.ts";
import { drawResamples, wideningOf } from "../../../research/luck/resamples.ts";
import { normalQuantile } from "../../../research/normal.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import { normalProbability } from "../../../engine/metrics/moments.ts";

/** A scale of returns so small that the logarithm of growth is their sum. */
const SMALL = 1e-7;

/** The place of the best of columns by their means. */
function bestOf(columns: readonly Float64Array[]): number {
  const sums = columns.map((column) => column.reduce((sum, each) => sum + each, 0));
  return sums.indexOf(Math.max(...sums));
}

/** The experiment of Hansen (2005), section 4, with 100 alternatives on 200 days that do not depend on each other. */
const HANSEN = { trials: 100, days: 200, sets: 200, resamples: 199 } as const;

/**
 * Rates at which the reality check and Hansen's test reject at 5 %.
 *
 * @param poorest His Λ0: the others are poor by shares of it. @param first His Λ1: the first alternative is better by as much.
 */
function rejectionRates(poorest: number, first: number) {
  const { trials, days, sets, resamples } = HANSEN;
  let [check, superior] = [0, 0];
  for (let set = 0; set < sets; set++) {
    const random = new Random(set);
    const benchmark = Float64Array.from({ length: days }, () => Math.sqrt(1 / 2) * random.normal());
    const returns = Array.from({ length: trials }, (_, trial) => {
      // A loss, which the better alternative has less of.
      const loss = trial === 0 ? first : (trial - 1) / (trials - 2) * poorest;
      const deviation = Math.sqrt(Math.exp(Math.atan(loss)) / 2);
      return benchmark.map((each) => SMALL * (each - loss / Math.sqrt(days) - deviation * random.normal()));
    });
    const { p_value, spa_p_value } = checkReality({
      ...{ returns, best: bestOf(returns), measure: measureOf("total_return", 252), direction: "max", less: 0 },
      ...{ resamples, seed: 1_000 * set, blockDays: 1 },
    });
    if (p_value <= 0.05) check++;
    if (spa_p_value <= 0.05) superior++;
  }
  return { check: check / sets, superior: superior / sets };
}

Deno.test("the reality check and the SPA test reject as often as in table 2 of Hansen (2005)", () => {
  // Its columns RCu and SPAc at a level of 5 %, each of 10,000 samples.
  const printed = [
    { poorest: 0, first: 0, check: 0.053, superior: 0.06 },
    { poorest: 0, first: -3, check: 0.47, superior: 0.764 },
    { poorest: 10, first: -3, check: 0, superior: 0.843 },
  ];
  for (const { poorest, first, ...rates } of printed) {
    const found = rejectionRates(poorest, first);
    for (const name of ["check", "superior"] as const) {
      // Three standard errors of 200 sets: at most 10.6 points.
      const error = Math.sqrt(Math.max(0.005, rates[name] * (1 - rates[name])) / HANSEN.sets);
      const isNear = Math.abs(found[name] - rates[name]) <= 3 * error;
      expect([poorest, first, name, isNear ? rates[name] : found[name]]).toEqual([poorest, first, name, rates[name]]);
    }
  }
});

/** Days that remember a part of the day before. */
function dependentDays(days: number, memory: number, seed: number): Float64Array {
  const random = new Random(seed);
  let last = 0;
  return Float64Array.from({ length: days }, () => last = memory * last + random.normal());
}

Deno.test("means of resamples vary as Politis and Romano (1994) give it", () => {
  // Lemma 1: R(0) + 2 Σ ((1 - i/n) (1 - p)^i + i/n (1 - p)^(n - i)) R(i), over n, where R(i) are the covariances of the days.
  const [days, length, count] = [200, 6, 20_000];
  for (const memory of [0, 0.5, -0.4]) {
    const column = dependentDays(days, memory, 5);
    const mean = column.reduce((sum, each) => sum + each, 0) / days;
    const covariance = (lag: number) => {
      let sum = 0;
      for (let day = lag; day < days; day++) sum += (column[day]! - mean) * (column[day - lag]! - mean);
      return sum / days;
    };
    let expected = covariance(0);
    const stay = 1 - 1 / length;
    for (let lag = 1; lag < days; lag++) {
      const weight = (1 - lag / days) * stay ** lag + lag / days * stay ** (days - lag);
      expected += 2 * weight * covariance(lag);
    }
    expected /= days;
    const means = drawResamples(count, days, 9, length).map((drawn) =>
      drawn.reduce((sum, day) => sum + column[day]!, 0) / days - mean
    );
    const found = means.reduce((sum, each) => sum + each ** 2, 0) / count;
    // A variance of 20,000 draws has a standard error of 1 %.
    expect([memory, Math.abs(found / expected - 1) < 0.03]).toEqual([memory, true]);
  }
});

Deno.test("widened, means of resamples vary as means of new days do", () => {
  // Independent days have a mean whose variance is 1 / days.
  for (const [days, length] of [[60, 4], [200, 6], [200, 1]] as const) {
    let variance = 0;
    const sets = 400;
    for (let set = 0; set < sets; set++) {
      const column = dependentDays(days, 0, 1_000 + set);
      const mean = column.reduce((sum, each) => sum + each, 0) / days;
      for (const drawn of drawResamples(50, days, 100 * set, length)) {
        variance += (drawn.reduce((sum, day) => sum + column[day]!, 0) / days - mean) ** 2 / 50 / sets;
      }
    }
    // The means of 400 sets have a standard error of 1.5 %; without the factor, the first variance is a tenth too small.
    const share = variance * days;
    expect([days, length, Math.abs(share * wideningOf(days, length) ** 2 - 1) < 0.045]).toEqual([days, length, true]);
    if (days === 60) expect(share).toBeLessThan(0.93);
  }
});

/** Days of trials that do not depend on each other, with exactly these means, in deviations of a mean. */
function trialsWith(scores: readonly number[], days: number, seed: number): Float64Array[] {
  const random = new Random(seed);
  return scores.map((score) => {
    const column = Float64Array.from({ length: days }, () => random.normal());
    const mean = column.reduce((sum, each) => sum + each, 0) / days;
    const deviation = Math.sqrt(column.reduce((sum, each) => sum + (each - mean) ** 2, 0) / days);
    return column.map((each) => SMALL * ((each - mean) / deviation + score / Math.sqrt(days)));
  });
}

Deno.test("of independent trials, White's and Romano and Wolf's answers are those of the largest of normal values", () => {
  // The largest of m normal values is below x with the probability N(x)^m: the p-value of a best score s is 1 - N(s)^m. A trial
  // survives if it is above the 95 % point of the largest of itself and those that are worse: N^-1(0.95^(1/left)).
  const scores = [
    ...Array.from({ length: 10 }, (_, i) => 5 - i / 10),
    2.68,
    2.2,
    ...Array.from({ length: 8 }, (_, i) => -i),
  ];
  const bounds = scores.map((_, better) => normalQuantile(0.95 ** (1 / (scores.length - better))));
  // One step alone passes ten. Once they are left out, 2.68 is above the bound of ten trials, and 2.2 below that of nine.
  expect([0, 10, 11].map((better) => bounds[better]!.toFixed(2))).toEqual(["2.80", "2.57", "2.53"]);
  const [count, days] = [1_999, 500];
  const returns = trialsWith(scores, days, 3);
  const given = { measure: measureOf("total_return", 252), direction: "max", less: 0, resamples: count } as const;
  const found = checkReality({ ...given, returns, best: 0, seed: 1, blockDays: 1 });
  const median = normalQuantile(0.5 ** (1 / scores.length));
  expect(found.expected_best / SMALL / Math.sqrt(days)).toBeCloseTo(median, 1);
  expect(found.survivors).toEqual({ count: 11, best: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] });
  for (const score of [1.5, 2.2, 2.8]) {
    const one = trialsWith([score, ...scores.slice(11)], days, 4);
    const expected = 1 - normalProbability(score) ** one.length;
    const { p_value } = checkReality({ ...given, returns: one, best: 0, seed: 1, blockDays: 1 });
    expect(Math.abs(p_value - expected)).toBeLessThan(4 * Math.sqrt(expected * (1 - expected) / count));
  }
});

Deno.test("splits of two opposite trials are those that a person counts", () => {
  // The first one gains x in each of the first eight blocks and loses it in the others, and the second one does the opposite. In a half
  // with k of the first eight blocks, the first one has gained (2k - 8) x, and -(2k - 8) x in the other half: the better one here is
  // the worse one there, unless k is 4 and both are level.
  const [x, days] = [0.01, 16 * 3];
  const first = Float64Array.from({ length: days }, (_, day) => Math.expm1(day < days / 2 ? x / 3 : -x / 3));
  const second = Float64Array.from(first, (each) => Math.expm1(-Math.log1p(each)));
  const given = { measure: measureOf("total_return", 252), direction: "max", riskFree: 0 } as const;
  const splits = splitTrials({ ...given, returns: [first, second] }, { part: 0, parts: 1 });
  if ("reason" in splits) throw new Error(splits.reason);
  // Bailey et al. print 12,780 splits of 16 blocks, two digits of which have changed places.
  expect(splits.ranks.length).toBe(12_870);
  // Halves with four of the first eight blocks: (8 choose 4)^2 = 4,900. There, sums of rounding decide.
  const level = splits.chosen.filter((value) => Math.abs(value) < 1e-9).length;
  expect(level).toBe(4_900);
  const uneven = splits.ranks.filter((_, i) => Math.abs(splits.chosen[i]!) >= 1e-9);
  expect([...new Set(uneven)]).toEqual([1 / 3]);
  const losses = splits.growths.filter((value) => value < -1e-9).length;
  expect(losses).toBe(12_870 - 4_900);
  // A trial that is better in each block is the better one of each half.
  const better = splitTrials({ ...given, returns: [first, first.map((each) => each + 0.001)] }, { part: 0, parts: 1 });
  expect(measureSplits([better])).toMatchObject({ overfitting_probability: 0, median_rank: 2 / 3 });
});

Deno.test("splits whose halves add up to nothing have an overfitting probability of 1", () => {
  // The full overfit of Bailey et al. (2017): every trial is centred, so that the best one of a half is the worst one of the other half.
  const random = new Random(8);
  const returns = Array.from({ length: 20 }, () => {
    const column = Float64Array.from({ length: 320 }, () => SMALL * random.normal());
    const mean = column.reduce((sum, each) => sum + each, 0) / column.length;
    return column.map((each) => Math.expm1(each - mean));
  });
  const given = { measure: measureOf("total_return", 252), direction: "max", riskFree: 0 } as const;
  const figures = measureSplits([splitTrials({ ...given, returns }, { part: 0, parts: 1 })]);
  if ("reason" in figures) throw new Error(figures.reason);
  expect(figures).toMatchObject({ overfitting_probability: 1, loss_probability: 1, median_rank: 1 / 21 });
  expect(figures.degradation_slope).toBeCloseTo(-1, 4);
});
