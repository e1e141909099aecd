import { expect } from "@std/expect";
import { ratioMetrics } from "../../../engine/metrics/ratios.ts";
import { Random } from "../../../research/numbers/random_numbers.ts";
import { runOf } from "./runs.ts";

/** Ratios of given daily returns in a year of four days, so that the root is 2. */
function ratiosOf(returns: readonly number[], riskFreeRate = 0) {
  const none = new Float64Array(0);
  const daily = {
    days: returns.length,
    returns: Float64Array.from(returns),
    closeReturns: none,
    dates: none,
    equity: none,
  };
  return ratioMetrics(runOf([], { periodsPerYear: 4, riskFreeRate }), daily);
}

Deno.test("ratioMetrics() of four days, worked by hand", () => {
  // Mean 0.05; deviations 0.05, -0.15, 0.15, -0.05; their squares sum to 0.05, so s^2 = 0.05 / 3.
  const ratios = ratiosOf([0.1, -0.1, 0.2, 0]);
  const s = Math.sqrt(0.05 / 3);
  expect(ratios.annual_volatility).toBeCloseTo(2 * s, 14);
  expect(ratios.sharpe).toBeCloseTo(Math.sqrt(0.6), 14); // 2 x 0.05 / s
  expect(ratios.sortino).toBeCloseTo(2, 14); // 2 x 0.05 / sqrt(0.1^2 / 4)
  expect(ratios.omega).toBeCloseTo(3, 14); // 0.3 / 0.1
  expect(ratios.skew).toBeCloseTo(0, 14); // cubes cancel
  // Fourth powers sum to 0.001025; / s^4 is 3.69; 20/6 x 3.69 - 27/2 = -1.2.
  expect(ratios.kurtosis).toBeCloseTo(-1.2, 12);
  // s = 0.387298 a day; z = 0.387298 x sqrt(3) / sqrt(1 + 0.2 x 0.15) = 0.660979; N(z) from a table: 0.7457.
  expect(ratios.probabilistic_sharpe).toBeCloseTo(0.7457, 4);
});

Deno.test("ratioMetrics() takes the risk-free rate off in equal parts a day", () => {
  // 0.08 a year of four days is 0.02 a day: above it 0.08 and 0.18, below it 0.12 and 0.02.
  const ratios = ratiosOf([0.1, -0.1, 0.2, 0], 0.08);
  expect(ratios.sharpe).toBeCloseTo(2 * 0.03 / Math.sqrt(0.05 / 3), 14);
  expect(ratios.sortino).toBeCloseTo(2 * 0.03 / Math.sqrt((0.0144 + 0.0004) / 4), 13);
  expect(ratios.omega).toBeCloseTo(0.26 / 0.14, 13);
  expect(ratios.annual_volatility).toBeCloseTo(2 * Math.sqrt(0.05 / 3), 14);
});

Deno.test("ratioMetrics() agrees with exact fractions on ten skewed days", () => {
  // The sums in rational arithmetic, rounded once; the probability by the complementary error function of a C library.
  const ratios = ratiosOf([0.01, -0.02, 0.035, 0.002, -0.041, 0.018, 0.09, -0.005, 0.012, -0.03]);
  expect(ratios.skew).toBeCloseTo(1.110155523316402, 12);
  expect(ratios.kurtosis).toBeCloseTo(2.0613030336406153, 12);
  expect(ratios.probabilistic_sharpe).toBeCloseTo(0.736268473073987, 12);
});

Deno.test("returns that differ only by rounding have no deviation", () => {
  // 10 % a day, as quotients of doubles: 110 / 100, 121 / 110, 133.1 / 121 and 146.41 / 133.1, less 1.
  const ratios = ratiosOf([110 / 100 - 1, 121 / 110 - 1, 133.1 / 121 - 1, 146.41 / 133.1 - 1]);
  expect(ratios.sharpe).toEqual({ reason: "all daily returns are equal" });
  expect(ratios.skew).toEqual({ reason: "all daily returns are equal" });
  expect(ratios.probabilistic_sharpe).toEqual({ reason: "all daily returns are equal" });
});

Deno.test("returns whose squares overflow give a reason and no NaN", () => {
  expect(ratiosOf([0.1, -0.1, 1e200, 0]).probabilistic_sharpe).toEqual({ reason: expect.any(String) });
});

Deno.test("ratioMetrics() names the number of days that each metric needs", () => {
  expect(ratiosOf([0.1])).toMatchObject({
    annual_volatility: { reason: "fewer than two daily returns" },
    sharpe: { reason: "fewer than two daily returns" },
    sortino: { reason: "fewer than two daily returns" },
    skew: { reason: "fewer than three daily returns" },
    kurtosis: { reason: "fewer than four daily returns" },
  });
  expect(ratiosOf([0.1, -0.1, 0.2])).toMatchObject({
    skew: expect.any(Number),
    kurtosis: { reason: "fewer than four daily returns" },
    probabilistic_sharpe: { reason: "fewer than four daily returns" },
  });
});

Deno.test("the error of a Sharpe ratio knows that days depend on each other", () => {
  // The definition in NumPy: (d[k:] * d[:n - k]).sum() / n, with two lags and a year of 252 days.
  const returns = Float64Array.of(0.01, -0.02, 0.015, 0.03, -0.01, 0.005, 0.02, -0.005);
  const ratios = ratioMetrics({ periodsPerYear: 252, riskFreeRate: 0 }, { returns });
  expect(ratios.sharpe).toBeCloseTo(5.3890132134402995, 12);
  expect(ratios.sharpe_error).toBeCloseTo(2.432125122952973, 12);
  expect(ratios.sharpe_low).toBeCloseTo(5.3890132134402995 - 1.96 * 2.432125122952973, 11);
  expect(ratios.sharpe_high).toBeCloseTo(5.3890132134402995 + 1.96 * 2.432125122952973, 11);
});

/** The mean error over samples of 2,000 days, against that of independent normal days: sqrt((1 + s^2 / 2) / n). */
function errorAgainstIndependent(correlation: number): number {
  const random = new Random(3);
  let shares = 0;
  for (let sample = 0; sample < 20; sample++) {
    let last = 0;
    const returns = Float64Array.from({ length: 2000 }, () => {
      last = correlation * last + Math.sqrt(1 - correlation ** 2) * random.normal();
      return 0.05 + last;
    });
    const { sharpe, sharpe_error } = ratioMetrics({ periodsPerYear: 1, riskFreeRate: 0 }, { returns });
    shares += Number(sharpe_error) / Math.sqrt((1 + Number(sharpe) ** 2 / 2) / returns.length);
  }
  return shares / 20;
}

Deno.test("independent days have the error that Lo gives for them, and dependent ones that of their correlation", () => {
  // Lo (2002), equation 9: sqrt((1 + s^2 / 2) / n).
  expect(errorAgainstIndependent(0)).toBeCloseTo(1, 1);
  // A mean of days that remember a third of the day before varies sqrt((1 + 1/3) / (1 - 1/3)) = 1.41 times as much.
  expect(errorAgainstIndependent(1 / 3)).toBeGreaterThan(1.3);
  expect(errorAgainstIndependent(1 / 3)).toBeLessThan(1.45);
  expect(errorAgainstIndependent(-1 / 3)).toBeLessThan(0.8);
});

Deno.test("the error of dependent days follows the scale factors of table 2 of Lo (2002)", () => {
  // A sum of 250 days, of which each remembers this part of the one before, deviates by 250 over the printed factor: so many times as
  // much as that of independent days, whose factor is the root of 250, 15.81. Without a mean, the error grows by the same.
  const printed = [[-0.2, 19.35], [0, 15.81], [0.2, 12.92], [0.5, 9.15]] as const;
  for (const [correlation, factor] of printed) {
    const random = new Random(11);
    let last = 0;
    const days = 100_000;
    const returns = Float64Array.from({ length: days }, () => {
      return last = correlation * last + 0.01 * random.normal();
    });
    const { sharpe_error } = ratioMetrics({ periodsPerYear: 1, riskFreeRate: 0 }, { returns });
    const growth = Number(sharpe_error) * Math.sqrt(days);
    // Newey and West's weights leave up to a tenth of the variance out.
    expect([correlation, Math.abs(growth / (15.81 / factor) - 1) < 0.05]).toEqual([correlation, true]);
  }
});
