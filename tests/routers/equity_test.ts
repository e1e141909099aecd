import { expect } from "@std/expect";
import { drawdownMetrics } from "../../engine/metrics/drawdown.ts";
import { samplePoints } from "../../routers/equity.ts";
import { runOf } from "../engine/metrics/runs.ts";

Deno.test("the deepest drawdown of the curve is the metric max_drawdown, to the last bit, however far it is thinned", () => {
  // From 100 up to 141, then down: (141 - 99.7) / 141 has another last bit than 1 - 99.7 / 141.
  const equity = [100, 120, 141, 130, 99.7, 110, 99.9];
  const run = runOf(equity);
  const columns = { time: run.time, equity: run.equity, position: new Float64Array(equity.length) };
  for (const pointsMax of [4, 100]) {
    const depths = samplePoints(columns, run.initialBalance, pointsMax).map(({ drawdown }) => drawdown);
    expect(Math.max(...depths)).toBe(drawdownMetrics(run).max_drawdown);
  }
});
