import { expect } from "@std/expect";
import { sampleDaily } from "../../../engine/metrics/daily.ts";
import { annualReturn, buyHoldReturn, cagr, durationDays, totalReturn } from "../../../engine/metrics/growth.ts";
import { DAY, runOf } from "./runs.ts";

Deno.test("cagr() is by the calendar: 100 to 121 in 730.5 days is 10 % a year", () => {
  const run = runOf([100, 121], { days: [0, 729.5] });
  expect(durationDays(run)).toBe(730.5);
  expect(cagr(run)).toBeCloseTo(0.1, 14);
});

Deno.test("annualReturn() is by days with candles: 100 to 121 in two days of a one-day year is 10 % a year", () => {
  const run = runOf([100, 121], { days: [0, 729.5], periodsPerYear: 1 });
  expect(annualReturn(run, sampleDaily(run))).toBeCloseTo(0.1, 14);
});

Deno.test("durationDays() includes the last candle", () => {
  expect(durationDays(runOf([1, 1, 1], { days: [0, 0.25, 0.5], timeframeMs: DAY / 4 }))).toBe(0.75);
});

Deno.test("durationDays() ends with the last month where candles are months", () => {
  // January 2024 has 31 days and February 29.
  expect(durationDays(runOf([1, 1], { days: [0, 31], timeframeMs: null }))).toBe(60);
});

Deno.test("totalReturn() and buyHoldReturn() compare last with first", () => {
  const run = runOf([100, 150], { close: [8, 6], initialBalance: 50 });
  expect(totalReturn(run)).toBe(2); // 150 / 50 - 1
  expect(buyHoldReturn(run)).toBe(-0.25); // 6 / 8 - 1
});

Deno.test("cagr() of a debt is undefined", () => {
  expect(cagr(runOf([100, -20]))).toEqual({ reason: "a negative equity has no growth rate" });
});
