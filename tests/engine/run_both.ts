import { expect } from "@std/expect";
import { type ExecutionRequest, resolveExecution } from "../../engine/execution.ts";
import { run, type RunInput, type RunResult } from "../../engine/run.ts";
import { BY_UNITS, type OrderDraft } from "../../engine/strategy.ts";
import { candlesOf, DAY_MS, order, type Row, script } from "./market.ts";
import { simulateSlowly } from "./oracle/simulate.ts";
import { differences } from "./properties/compare.ts";

/** Runs the engine and the slow simulator (oracle/), and expects equal results. */
export function runBoth(
  rows: readonly Row[],
  decisions: Parameters<typeof script>[0],
  execution: ExecutionRequest = {},
  initialBalance = 1000,
): RunResult {
  const input: RunInput = {
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: DAY_MS,
    initialBalance,
    execution: resolveExecution(execution, "crypto"),
    strategy: script(decisions),
    control: null,
  };
  const result = run(input);
  expect(differences(input, result, simulateSlowly(input), initialBalance)).toEqual([]);
  return result;
}

/** A draft for a number of units. */
export const units = (size: number, fields: Partial<OrderDraft> = {}) => order({ sizeBy: BY_UNITS, size, ...fields });

/** Fills of market and stop orders are limited to a hundredth of the volume, without impact on the price. */
export const A_HUNDREDTH = { slippage: { volumeShare: 0.01, impact: 0 } } as const;
