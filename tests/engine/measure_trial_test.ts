import { expect } from "@std/expect";
import { resolveExecution } from "../../engine/execution.ts";
import { measureTrial, run } from "../../engine/run.ts";
import { newDraft, type Strategy } from "../../engine/strategy.ts";
import { candlesOf, DAY_MS } from "./market.ts";

// A trade from 100 on, whose candle reaches the stop at 95 and the target at 105; later prices rise and fall.
const CANDLES = candlesOf([
  [100, 100, 100, 100],
  [100, 110, 90, 100],
  [100, 104, 99, 104],
  [104, 104, 98, 98],
  [98, 103, 98, 103],
]);

Deno.test("a trial has the metrics of its run to the last digit, and one simulation where bounds take more", () => {
  let simulations = 0;
  const strategy: Strategy = {
    warmup: 1,
    prepare: () => void simulations++,
    decide(i, _account, book) {
      if (i === 0) book.place({ ...newDraft(), stopLossFraction: 0.05, takeProfitFraction: 0.05 });
      if (i === 2) book.place({ ...newDraft(), side: -1 });
    },
  };
  const input = {
    ...{ candles: CANDLES, firstIndex: 0, timeframeMs: DAY_MS, initialBalance: 1000, strategy, control: null },
    execution: resolveExecution({ commission: 0.001 }, "stock"),
  };
  const { metrics, undefinedMetrics, dailyReturns, bounds } = run(input);
  expect([metrics.ambiguous_trades, bounds === null, simulations]).toEqual([1, false, 2]);
  const trial = measureTrial(input);
  expect(simulations).toBe(3);
  expect(JSON.stringify(trial)).toBe(JSON.stringify({ metrics, undefinedMetrics, dailyReturns }));
});
