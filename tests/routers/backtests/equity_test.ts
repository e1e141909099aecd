import { expect } from "@std/expect";
import { drawdownMetrics } from "../../../engine/metrics/drawdown.ts";
import { sampleCurve } from "../../../routers/backtests/equity.ts";
import { runOf } from "../../engine/metrics/runs.ts";

/** The deepest drawdown of a thinned curve, how many points that has, and the metric. */
function thin(equity: readonly number[], pointsMax: number) {
  const run = runOf(equity, { initialBalance: equity[0]! });
  const columns = { time: run.time, equity: run.equity, position: new Float64Array(equity.length) };
  const { drawdown } = sampleCurve(columns, run.initialBalance, pointsMax);
  const deepest = Math.max(...drawdown);
  return { deepest, count: drawdown.length, metric: drawdownMetrics(run).max_drawdown };
}

Deno.test("the deepest drawdown of the curve is the metric max_drawdown, to the last bit", () => {
  // (141 - 99.7) / 141 has another last bit than 1 - 99.7 / 141.
  const { deepest, metric } = thin([100, 120, 141, 130, 99.7, 110, 99.9], 100);
  expect(deepest).toBe(metric);
});

Deno.test("a thinned curve keeps the candle of the deepest drawdown, even if equity was lower before", () => {
  const equity = [10, 11, 50, 100, 60, 80, 90, 100];
  for (let pointsMax = 3; pointsMax < 8; pointsMax++) {
    const { deepest, count, metric } = thin(equity, pointsMax);
    expect(deepest).toBe(metric);
    expect(count).toBeLessThanOrEqual(pointsMax);
  }
  expect(thin(equity, 2).count).toBe(2);
});
