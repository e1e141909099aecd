import { expect } from "@std/expect";
import { tailMetrics } from "../../../engine/metrics/tail.ts";

Deno.test("tailMetrics() of 21 days: the 5 % quantile is the second worst", () => {
  const returns = Float64Array.from({ length: 21 }, (_, i) => (i - 8) / 100);
  const tail = tailMetrics(returns.toReversed());
  expect(tail.var_95).toBe(0.07); // position 20 x 0.05 = 1
  expect(tail.cvar_95).toBeCloseTo(0.075, 15); // mean of 0.08 and 0.07
  expect(tail.best_day).toBe(0.12);
  expect(tail.worst_day).toBe(-0.08);
  expect(tail.tail_ratio).toBeCloseTo(11 / 7, 14); // the second best is 0.11
});

Deno.test("tailMetrics() interpolates between two days", () => {
  const tail = tailMetrics(Float64Array.of(0.1, -0.1));
  expect(tail.var_95).toBeCloseTo(0.09, 15); // -0.1 + 0.05 x 0.2
  expect(tail.cvar_95).toBe(0.1);
});

Deno.test("tailMetrics() of days that all gain gives a negative loss", () => {
  expect(tailMetrics(Float64Array.of(0.02))).toEqual({
    var_95: -0.02,
    cvar_95: -0.02,
    best_day: 0.02,
    worst_day: 0.02,
    tail_ratio: 1,
  });
});

Deno.test("tailMetrics() has no tail ratio where the 5 % quantile is 0", () => {
  const tail = tailMetrics(Float64Array.of(0, 0, 0.1));
  expect(tail.tail_ratio).toEqual({ reason: "the 5% quantile of the daily returns is 0" });
});

Deno.test("tailMetrics() does not reorder the returns", () => {
  const returns = Float64Array.of(0.3, -0.1, 0.2);
  tailMetrics(returns);
  expect([...returns]).toEqual([0.3, -0.1, 0.2]);
});

Deno.test("tailMetrics() has the values of all returns in order, however many are equal", () => {
  for (
    const [length, steps] of [[1, 3], [2, 3], [19, 4], [20, 100], [21, 2], [22, 7], [366, 1000], [366, 5], [2000, 40]]
  ) {
    // Whole hundredths by a fixed rule, so that some are equal.
    const returns = Float64Array.from({ length: length! }, (_, i) => (((i + 1) * 7919) % steps! - (steps! >> 1)) / 100);
    const sorted = returns.toSorted();
    const at = (position: number) => {
      const below = Math.floor(position);
      const lower = sorted[below]!;
      return lower + (position - below) * ((sorted[below + 1] ?? lower) - lower);
    };
    const [low, high] = [at((length! - 1) * 0.05), at((length! - 1) * 0.95)];
    const tail = sorted.filter((value) => value <= low);
    const { tail_ratio: ratio, ...rest } = tailMetrics(returns);
    expect(rest).toEqual({
      var_95: -low,
      cvar_95: -(tail.reduce((sum, value) => sum + value, 0) / tail.length),
      best_day: sorted.at(-1),
      worst_day: sorted[0],
    });
    if (low !== 0) expect(ratio).toBe(Math.abs(high) / Math.abs(low));
  }
});
