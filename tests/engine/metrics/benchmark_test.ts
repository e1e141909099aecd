import { expect } from "@std/expect";
import { benchmarkMetrics } from "../../../engine/metrics/benchmark.ts";
import { sampleDaily } from "../../../engine/metrics/daily.ts";
import type { MetricsInput } from "../../../engine/metrics/input.ts";
import { runOf } from "./runs.ts";

const benchmark = (run: MetricsInput) => benchmarkMetrics(run, sampleDaily(run));

Deno.test("benchmarkMetrics() finds half the market's move and one per cent a day", () => {
  // The instrument makes +10 %, -10 %; equity 0.5 x that + 1 %: +6 %, -4 %. Ten days a year.
  const run = runOf([100, 106, 101.76], { close: [100, 110, 99], periodsPerYear: 10 });
  const { alpha, beta } = benchmark(run);
  expect(beta).toBeCloseTo(0.5, 13);
  expect(alpha).toBeCloseTo(0.1, 13);
});

Deno.test("benchmarkMetrics() takes the risk-free rate off both sides", () => {
  // 0.02 a day: (0.01 - 0.02 - 0.5 x (0 - 0.02)) x 10 = 0.
  const run = runOf([100, 106, 101.76], { close: [100, 110, 99], periodsPerYear: 10, riskFreeRate: 0.2 });
  expect(benchmark(run).alpha).toBeCloseTo(0, 13);
});

Deno.test("benchmarkMetrics() of holding the instrument is beta 1 and no alpha, whatever the first day did", () => {
  const close = [50, 55, 51, 60, 58];
  const run = runOf(close.map((price) => price * 3), { close });
  const { alpha, beta } = benchmark(run);
  expect(beta).toBeCloseTo(1, 12);
  expect(alpha).toBeCloseTo(0, 10);
});

Deno.test("benchmarkMetrics() is undefined against a constant price", () => {
  const reason = "the instrument's price does not move";
  expect(benchmark(runOf([100, 101, 99], { close: [5, 5, 5] }))).toEqual({ alpha: { reason }, beta: { reason } });
});

Deno.test("benchmarkMetrics() needs three days", () => {
  const reason = "fewer than two days after the first";
  expect(benchmark(runOf([100, 101], { close: [5, 6] }))).toEqual({ alpha: { reason }, beta: { reason } });
});
