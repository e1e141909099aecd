import { expect } from "@std/expect";
import { drawdownMetrics } from "../../../engine/metrics/drawdown.ts";
import { runOf } from "./runs.ts";

Deno.test("drawdownMetrics() measures each fall from its peak to its recovery or the end", () => {
  // 110 to 99 and back by day 4: 10 %, three days. 110 to 88, unrecovered at the end of day 6: 20 %, two days.
  const drawdown = drawdownMetrics(runOf([110, 99, 104.5, 110, 88, 99]));
  expect(drawdown.max_drawdown).toBe(0.2);
  expect(drawdown.max_drawdown_days).toBe(3);
  expect(drawdown.average_drawdown).toBeCloseTo(0.15, 15);
  expect(drawdown.average_drawdown_days).toBe(2.5);
  expect(drawdown.ulcer_index).toBeCloseTo(Math.sqrt((0.1 ** 2 + 0.05 ** 2 + 0.2 ** 2 + 0.1 ** 2) / 6), 15);
});

Deno.test("drawdownMetrics() counts the initial balance as a peak, marked at the first open", () => {
  const drawdown = drawdownMetrics(runOf([90, 100]));
  expect(drawdown).toMatchObject({ max_drawdown: 0.1, max_drawdown_days: 2, average_drawdown: 0.1 });
});

Deno.test("drawdownMetrics() starts a fall at the last of several marks at the peak", () => {
  expect(drawdownMetrics(runOf([120, 120, 120, 60])).max_drawdown_days).toBe(1);
});

Deno.test("drawdownMetrics() counts the days between candles, not the candles", () => {
  expect(drawdownMetrics(runOf([120, 60, 120], { days: [0, 1, 10] })).max_drawdown_days).toBe(10);
});

Deno.test("drawdownMetrics() has no average if equity never fell", () => {
  const drawdown = drawdownMetrics(runOf([100, 110, 110]));
  expect(drawdown).toMatchObject({ max_drawdown: 0, max_drawdown_days: 0, ulcer_index: 0 });
  expect(drawdown.average_drawdown).toEqual({ reason: "equity never fell below its peak" });
  expect(drawdown.average_drawdown_days).toEqual({ reason: "equity never fell below its peak" });
});

Deno.test("a drawdown over months lasts until the end of the month that ends it", () => {
  // From 1 January 2024 to the close of February: 31 and 29 days.
  const run = runOf([90, 100, 110], { days: [0, 31, 60], timeframeMs: null });
  expect(drawdownMetrics(run)).toMatchObject({ max_drawdown: 0.1, max_drawdown_days: 60 });
});

Deno.test("drawdownMetrics() finds the highest and the mean mark; the initial balance is none", () => {
  expect(drawdownMetrics(runOf([90, 96, 84]))).toMatchObject({ peak_equity: 96, meanMark: 90 });
  expect(drawdownMetrics(runOf([90, 130, 104, 110]))).toMatchObject({ peak_equity: 130, meanMark: 108.5 });
});
