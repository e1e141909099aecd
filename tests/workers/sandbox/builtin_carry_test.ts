import { expect } from "@std/expect";
import { BufferPool } from "../../../engine/buffer_pool.ts";
import { createControl } from "../../../engine/control.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { smaCross } from "../../../strategies/builtin/sma_cross.ts";
import { runCarry } from "../../../workers/sandbox/builtin_carry.ts";
import type { CarryTask } from "../../../workers/common/protocol.ts";

const DAY_MS = 86_400_000;
const DAYS = 40;
const BASE = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
const QUICK = { ...BASE, fast: 1, slow: 3 };
const SLOW = { ...BASE, fast: 2, slow: 4 };
/** A strategy whose averages do not exist within so few days. */
const NEVER = { ...BASE, fast: 50, slow: 60 };

/** A fall of ten days, and then a rise of one unit a day. */
const close = Float64Array.from({ length: DAYS }, (_, day) => day < 10 ? 100 - day : 80 + day);
const time = close.map((_, day) => day * DAY_MS);

function taskOf(stages: CarryTask["stages"]): CarryTask {
  return {
    candles: { time, open: close, high: close, low: close, close, volume: close },
    ...{ slug: "sma-cross", stages, firstIndex: 0, initialBalance: 1000, timeframeMs: DAY_MS, seed: 0 },
    ...{ execution: resolveExecution({ commission: 0.01 }, "crypto"), assetClass: "crypto", finer: null },
  };
}

function carry(...stages: CarryTask["stages"][number][]) {
  const outcome = runCarry(taskOf(stages), createControl(), new BufferPool(1 << 20));
  if (outcome.type !== "completed") throw new Error(outcome.type);
  return outcome;
}

function alone(parameters: typeof QUICK) {
  const { stages: _stages, slug: _slug, seed: _seed, ...settings } = taskOf([]);
  return run({ ...settings, strategy: smaCross.create(parameters, settings.execution), control: null });
}

Deno.test("one set of parameters trades all windows as one run does, to the last bit", () => {
  const { equity, metrics } = alone(QUICK);
  expect(carry({ parameters: QUICK, fromMs: 0 })).toEqual({
    type: "completed",
    exposure: metrics.exposure,
    marks: equity,
  });
});

Deno.test("a position passes to parameters that would hold it, too, without a fee", () => {
  const { equity } = alone(QUICK);
  // Both are long by day 25 and stay so.
  const carried = carry({ parameters: QUICK, fromMs: 0 }, { parameters: SLOW, fromMs: 25 * DAY_MS });
  expect(carried.marks).toEqual(equity);
});

Deno.test("a position that the next parameters would not hold is closed at the next open, at cost", () => {
  const { equity, position } = alone(QUICK);
  const { marks } = carry({ parameters: QUICK, fromMs: 0 }, { parameters: NEVER, fromMs: 25 * DAY_MS });
  // The averages are known at the close of day 25, the first of their window.
  expect(marks.subarray(0, 26)).toEqual(equity.subarray(0, 26));
  const after = equity[25]! + position[25]! * (close[26]! - close[25]!) - position[25]! * close[26]! * 0.01;
  expect(position[25]).toBeGreaterThan(0);
  for (const mark of marks.subarray(26)) expect(mark).toBeCloseTo(after, 9);
});

Deno.test("the next parameters trade by their own rules from their window on", () => {
  const { marks } = carry({ parameters: NEVER, fromMs: 0 }, { parameters: QUICK, fromMs: 5 * DAY_MS });
  // Day 11 is the first cross: both averages of the fall are below, and then above.
  expect(marks.subarray(0, 11)).toEqual(new Float64Array(11).fill(1000));
  expect(marks.at(-1)).toBeGreaterThan(1000);
});
