import { expect } from "@std/expect";
import { sampleDaily } from "../../../engine/metrics/daily.ts";
import { growthMetrics } from "../../../engine/metrics/growth.ts";
import { DAY, runOf } from "./runs.ts";

const growthOf = (run: ReturnType<typeof runOf>) => growthMetrics(run, sampleDaily(run), { max_drawdown: 0 });

Deno.test("cagr is by the calendar: 100 to 121 in 730.5 days is 10 % a year", () => {
  const growth = growthOf(runOf([100, 121], { days: [0, 729.5] }));
  expect(growth.duration_days).toBe(730.5);
  expect(growth.cagr).toBeCloseTo(0.1, 14);
});

Deno.test("annual_return is by days with candles: 100 to 121 in two days of a one-day year is 10 % a year", () => {
  expect(growthOf(runOf([100, 121], { days: [0, 729.5], periodsPerYear: 1 })).annual_return).toBeCloseTo(0.1, 14);
});

Deno.test("duration_days includes the last candle", () => {
  expect(growthOf(runOf([1, 1, 1], { days: [0, 0.25, 0.5], timeframeMs: DAY / 4 })).duration_days).toBe(0.75);
});

Deno.test("duration_days ends with the last month where candles are months", () => {
  // January 2024 has 31 days and February 29.
  expect(growthOf(runOf([1, 1], { days: [0, 31], timeframeMs: null })).duration_days).toBe(60);
});

Deno.test("total_return and buy_hold_return compare last with first", () => {
  const growth = growthOf(runOf([100, 150], { close: [8, 6], initialBalance: 50 }));
  expect(growth.total_return).toBe(2); // 150 / 50 - 1
  expect(growth.buy_hold_return).toBe(-0.25); // 6 / 8 - 1
});

Deno.test("cagr of a debt is undefined", () => {
  expect(growthOf(runOf([100, -20])).cagr).toEqual({ reason: "a negative equity has no growth rate" });
});
