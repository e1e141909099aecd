import { expect } from "@std/expect";
import type { Measured } from "../../engine/metrics/measured.ts";
import { normalProbability } from "../../engine/metrics/moments.ts";
import { normalQuantile, upperTail } from "../../research/normal.ts";
import {
  deflatedAmongMore,
  deflatedByChance,
  estimateSharpe,
  expectedBest,
  haircutSharpe,
  minimumTrackRecord,
  probabilisticSharpe,
} from "../../research/sharpe.ts";

const NORMAL = { skew: 0, kurtosis: 0 };

function numberOf(measured: Measured): number {
  if (typeof measured === "number") return measured;
  throw new Error(measured.reason);
}

Deno.test("the probabilistic Sharpe ratio is that of Bailey and Lopez de Prado (2012)", () => {
  // Two years of months with a ratio of 1.585 a year: 0.982 if they were normal, 0.913 with the skew and kurtosis of a hedge fund.
  const month = { sharpe: 0.458, count: 24 };
  expect(numberOf(probabilisticSharpe({ ...month, ...NORMAL }, 0))).toBeCloseTo(0.982, 3);
  expect(numberOf(probabilisticSharpe({ ...month, skew: -2.448, kurtosis: 7.164 }, 0))).toBeCloseTo(0.913, 3);
});

Deno.test("the minimum track record is that of Bailey and Lopez de Prado (2012)", () => {
  // A ratio of 2 a year, above 1 with 95 %: in years of days, of weeks, of months, and of months of a hedge fund.
  const years = (perYear: number, shape = NORMAL) =>
    numberOf(minimumTrackRecord({ sharpe: 2 / Math.sqrt(perYear), count: 1, ...shape }, 1 / Math.sqrt(perYear))) /
    perYear;
  expect(years(250)).toBeCloseTo(2.73, 2);
  expect(years(52)).toBeCloseTo(2.83, 2);
  expect(years(12)).toBeCloseTo(3.24, 2);
  expect(years(12, { skew: -0.72, kurtosis: 2.78 })).toBeCloseTo(4.99, 2);
});

Deno.test("the deflated Sharpe ratio is that of Bailey and Lopez de Prado (2014)", () => {
  // Five years of 250 days, a ratio of 2.5 a year, trials whose ratios have a variance of 1/2 a year.
  const estimate = { sharpe: 2.5 / Math.sqrt(250), count: 1250, skew: -3, kurtosis: 7 };
  expect(expectedBest(100, 0.5 / 250)).toBeCloseTo(0.1132, 4);
  expect(numberOf(probabilisticSharpe(estimate, expectedBest(100, 0.5 / 250)))).toBeCloseTo(0.9004, 4);
  expect(numberOf(probabilisticSharpe(estimate, expectedBest(46, 0.5 / 250)))).toBeCloseTo(0.9505, 4);
  // With normal returns, it takes 88 trials for the same.
  expect(numberOf(probabilisticSharpe({ ...estimate, ...NORMAL }, expectedBest(88, 0.5 / 250)))).toBeCloseTo(0.9505, 4);
});

Deno.test("a run of which only the number of trials is known is deflated as by trials that vary by chance alone", () => {
  for (const shape of [NORMAL, { skew: -3, kurtosis: 7 }, { skew: 0.4, kurtosis: 2 }]) {
    for (
      const [sharpe, count, trials] of [[0.1, 250, 40], [-0.05, 365, 3], [0.02, 20, 1e6], [0.2, 1000, 4012]] as const
    ) {
      const estimate = { sharpe, count, ...shape };
      const known = numberOf(probabilisticSharpe(estimate, 0));
      const plain = numberOf(probabilisticSharpe(estimate, expectedBest(trials, 1 / (count - 1))));
      expect(numberOf(deflatedByChance(estimate, known, trials))).toBeCloseTo(plain, 7);
      expect(numberOf(deflatedByChance(estimate, known, 1))).toBeCloseTo(known, 12);
    }
  }
  // Probabilities that are 0 and 1 to the last digit stay between them.
  const flat = { sharpe: 0.1, ...NORMAL };
  expect(numberOf(deflatedByChance(flat, 0, 100))).toBe(0);
  expect(numberOf(deflatedByChance(flat, 1, 100))).toBeGreaterThan(0.99);
  expect(deflatedByChance({ sharpe: 1, skew: 4, kurtosis: 0 }, 0.9, 2)).toMatchObject({ reason: expect.any(String) });
});

Deno.test("the best of some trials is deflated by all others as by trials that vary by chance alone", () => {
  for (const shape of [NORMAL, { skew: -3, kurtosis: 7 }, { skew: 0.4, kurtosis: 2 }]) {
    for (
      const [sharpe, count, own, trials] of [[0.1, 250, 40, 41], [-0.05, 365, 3, 900], [0.05, 1000, 2, 2]] as const
    ) {
      const estimate = { sharpe, count, ...shape };
      const above = (among: number) => numberOf(probabilisticSharpe(estimate, expectedBest(among, 1 / (count - 1))));
      const left = deflatedAmongMore({ trials: own, probability: above(1), deflated: above(own) }, trials);
      expect(left).toBeCloseTo(above(trials), 7);
    }
  }
  // A single trial of 100 tries: 1.3 standard errors above 0 less the best of 100 standard normal values, 2.53.
  const single = { trials: 1, probability: normalProbability(1.3), deflated: normalProbability(1.3) };
  expect(deflatedAmongMore(single, 100)).toBeCloseTo(normalProbability(1.3 - expectedBest(100, 1)), 9);
  expect(deflatedAmongMore({ trials: 5, probability: 1, deflated: 1 }, 100)).toBeGreaterThan(0.99);
});

Deno.test("the haircut is that of Harvey and Liu (2015)", () => {
  // Twenty years of months with a ratio of 0.75 a year: p 0.0008 in a single trial, 0.15 among 200, so 0.32 is left.
  const estimate = { sharpe: 0.75 / Math.sqrt(12), count: 240, ...NORMAL };
  expect(numberOf(haircutSharpe(estimate, 200)) * Math.sqrt(12)).toBeCloseTo(0.32, 2);
  expect(numberOf(haircutSharpe(estimate, 1))).toBeCloseTo(estimate.sharpe, 12);
  expect(numberOf(haircutSharpe({ ...estimate, sharpe: 9 }, 1e6))).toBeLessThanOrEqual(9);
  expect(numberOf(haircutSharpe({ ...estimate, sharpe: 0.01 }, 1e6))).toBe(0);
});

Deno.test("figures that do not exist say why", () => {
  expect(minimumTrackRecord({ sharpe: 0.1, count: 9, ...NORMAL }, 0.2)).toEqual({
    reason: "its Sharpe ratio is not above what the best of as many trials without skill would have",
  });
  expect(minimumTrackRecord({ sharpe: 0, count: 9, ...NORMAL }, 0)).toEqual({
    reason: "its Sharpe ratio is not above 0",
  });
  expect(haircutSharpe({ sharpe: -1, count: 9, ...NORMAL }, 5)).toEqual({ reason: "its Sharpe ratio is not above 0" });
  expect(estimateSharpe(Float64Array.of(1, 2, 3), 0)).toEqual({ reason: "fewer than four daily returns" });
  expect(estimateSharpe(Float64Array.of(0, 0, 0, 0), 0)).toEqual({ reason: "all daily returns are equal" });
  expect(probabilisticSharpe({ sharpe: 1, count: 9, skew: 2, kurtosis: 0 }, 0)).toEqual({
    reason: "the estimate's variance is not positive",
  });
});

Deno.test("more trials expect a better best, and one expects nothing", () => {
  expect(expectedBest(1, 1)).toBe(0);
  const bests = [2, 3, 10, 1e3, 1e6, 1e12].map((trials) => expectedBest(trials, 1));
  expect(bests).toEqual(bests.toSorted((a, b) => a - b));
  // Simulated: the largest of 1,000 normal numbers is 3.24 on average.
  expect(bests[3]).toBeCloseTo(3.25, 1);
});

Deno.test("normal quantiles and tails undo each other, far out too", () => {
  for (const x of [0, 0.3, 1, 1.96, 3, 5, 8, 20, 37]) {
    const tail = upperTail(x);
    expect(-normalQuantile(tail) / (x || 1)).toBeCloseTo(x === 0 ? 0 : 1, 10);
    if (x < 8) expect(tail).toBeCloseTo(1 - normalProbability(x), 13);
  }
  // Abramowitz and Stegun, table 26.1 and 26.2.
  expect(normalQuantile(0.975)).toBeCloseTo(1.959963984540054, 14);
  expect(upperTail(5) / 2.866515718791939e-7).toBeCloseTo(1, 12);
  expect(normalQuantile(0)).toBe(-Infinity);
  expect(normalQuantile(1)).toBe(Infinity);
});
