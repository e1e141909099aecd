import { expect } from "@std/expect";
import { benchmarkMetrics } from "../../../engine/metrics/benchmark.ts";
import { sampleDaily } from "../../../engine/metrics/daily.ts";
import type { MetricsInput } from "../../../engine/metrics/input.ts";
import { DAY, runOf } from "./runs.ts";

/** Candles of a benchmark that open at midnight, or `days` days after it. */
const candlesAt = (days: readonly number[], close: readonly number[]) => ({
  time: Float64Array.from(days, (day) => Date.UTC(2024, 0, 1) + day * DAY),
  close: Float64Array.from(close),
});

const allNull = (reason: string) => ({
  alpha: { reason },
  beta: { reason },
  tracking_error: { reason },
  information_ratio: { reason },
  treynor: { reason },
});

const benchmark = (run: MetricsInput) => benchmarkMetrics(run, sampleDaily(run));

Deno.test("benchmarkMetrics() finds half the market's move and one per cent a day", () => {
  // The instrument makes +10 %, -10 %; equity 0.5 x that + 1 %: +6 %, -4 %. Ten days a year.
  const run = runOf([100, 106, 101.76], { close: [100, 110, 99], periodsPerYear: 10 });
  const metrics = benchmark(run);
  expect(metrics.beta).toBeCloseTo(0.5, 13);
  expect(metrics.alpha).toBeCloseTo(0.1, 13);
  // A mean of 1 % a day is 10 % a year; 0.1 / 0.5.
  expect(metrics.treynor).toBeCloseTo(0.2, 13);
  // The differences are -4 % and +6 %: mean 1 %, deviation sqrt(2 x 0.05^2 / 1), and 0.01 / sqrt(0.005) x sqrt(10).
  expect(metrics.tracking_error).toBeCloseTo(Math.sqrt(0.005 * 10), 13);
  expect(metrics.information_ratio).toBeCloseTo(0.01 / Math.sqrt(0.005) * Math.sqrt(10), 12);
});

Deno.test("benchmarkMetrics() takes the risk-free rate off both sides", () => {
  // 0.02 a day: (0.01 - 0.02 - 0.5 x (0 - 0.02)) x 10 = 0.
  const run = runOf([100, 106, 101.76], { close: [100, 110, 99], periodsPerYear: 10, riskFreeRate: 0.2 });
  expect(benchmark(run).alpha).toBeCloseTo(0, 13);
  // (0.01 - 0.02) x 10 / 0.5.
  expect(benchmark(run).treynor).toBeCloseTo(-0.2, 13);
});

Deno.test("benchmarkMetrics() of holding the instrument is beta 1 and no alpha, whatever the first day did", () => {
  const close = [50, 55, 51, 60, 58];
  const run = runOf(close.map((price) => price * 3), { close });
  const { alpha, beta, information_ratio } = benchmark(run);
  expect(beta).toBeCloseTo(1, 12);
  expect(alpha).toBeCloseTo(0, 10);
  expect(information_ratio).toEqual({ reason: "every daily return is the benchmark's" });
});

Deno.test("benchmarkMetrics() is undefined against a constant price", () => {
  const reason = "the benchmark's price does not move";
  const undefinedOnes = { alpha: { reason }, beta: { reason }, treynor: { reason } };
  expect(benchmark(runOf([100, 101, 99], { close: [5, 5, 5] }))).toMatchObject(undefinedOnes);
});

Deno.test("benchmarkMetrics() needs three days", () => {
  const reason = "fewer than two days after the first";
  expect(benchmark(runOf([100, 101], { close: [5, 6] }))).toEqual(allNull(reason));
});

Deno.test("benchmarkMetrics() compares with another instrument, whatever the traded one did", () => {
  const other = candlesAt([0, 1.6, 2], [100, 110, 99]);
  const run = runOf([100, 106, 101.76], { close: [1, 7, 3], periodsPerYear: 10, benchmark: other });
  expect(benchmark(run).beta).toBeCloseTo(0.5, 13);
  expect(benchmark(run).alpha).toBeCloseTo(0.1, 13);
});

Deno.test("benchmarkMetrics() gives a benchmark that rests a return of 0, and leaves out days beyond its candles", () => {
  // The benchmark begins on day 1, rests on day 3 and ends on day 4: its returns of days 2, 3 and 4 are +10 %, 0, +10 %.
  // Equity makes +5 %, 0 and +5 % there.
  const other = candlesAt([1, 2, 4], [100, 110, 121]);
  const run = runOf([100, 90, 94.5, 94.5, 99.225, 10], { benchmark: other });
  expect(benchmark(run).beta).toBeCloseTo(0.5, 13);
  expect(benchmark(run).alpha).toBeCloseTo(0, 13);
});

Deno.test("benchmarkMetrics() needs two days that the benchmark has returns of", () => {
  const reason = "the benchmark has fewer than two returns in these days";
  const run = (other: ReturnType<typeof candlesAt>) => benchmark(runOf([100, 110, 90, 95], { benchmark: other }));
  expect(run(candlesAt([2, 3], [5, 6]))).toEqual(allNull(reason));
  expect(run(candlesAt([], []))).toEqual(allNull(reason));
  expect(run(candlesAt([-9, -8], [5, 6]))).toEqual(allNull(reason));
});
