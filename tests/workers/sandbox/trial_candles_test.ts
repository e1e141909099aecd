import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { measureTrial } from "../../../engine/run.ts";
import { newDraft, type Strategy } from "../../../engine/strategy.ts";
import { LookbackCutter } from "../../../workers/sandbox/trial_candles.ts";
import { candlesOf, DAY_MS } from "../../engine/market.ts";

const DATES = Float64Array.of(1, 2, 3).map((day) => day * DAY_MS);
// Six candles of three trading days; the range begins with the second of them.
const SLICE = {
  candles: candlesOf([[9, 9, 9, 9], [9, 9, 9, 10], [10, 11, 10, 11], [11, 13, 11, 12], [12, 12, 10, 10], [
    10,
    14,
    10,
    14,
  ]]),
  firstIndex: 2,
  assetClass: "stock",
  tradingDays: { ends: Int32Array.of(2, 3, 6), dates: DATES },
} as const;

Deno.test("the days of a slice's range are those after the lookback", () => {
  const { rangeDays } = new LookbackCutter(SLICE).cut(1);
  expect([...rangeDays.ends]).toEqual([1, 4]);
  expect([...rangeDays.dates]).toEqual([...DATES.subarray(1)]);
  expect([...rangeDays.closeReturns]).toEqual([14 / 11 - 1]);
});

Deno.test("a trial that gets the days of its range has the metrics of one that finds them", () => {
  const strategy: Strategy = {
    warmup: 1,
    prepare: () => {},
    decide: (i, _account, book) => void (i === 2 && book.place(newDraft())),
  };
  const cutter = new LookbackCutter(SLICE);
  for (const lookback of [0, 1, 2, 9]) {
    const input = {
      ...{ ...cutter.cut(lookback), assetClass: "stock", timeframeMs: DAY_MS / 3, initialBalance: 100 } as const,
      ...{ strategy, control: null, execution: resolveExecution({}, "stock") },
    };
    const trial = measureTrial(input);
    expect(trial.dailyReturns.length).toBe(2);
    expect(JSON.stringify(trial)).toBe(JSON.stringify(measureTrial({ ...input, rangeDays: null })));
  }
});
