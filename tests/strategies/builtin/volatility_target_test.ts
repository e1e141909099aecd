import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { volatilityTarget } from "../../../strategies/builtin/volatility_target.ts";
import { candlesOf, parametersOf, type Row } from "./play.ts";

/** Units held at each close, over hours without a gap. */
function holdings(closes: readonly number[], parameters: Readonly<Record<string, number>>): number[] {
  const rows = closes.map((close, i): Row => {
    const open = closes[i - 1] ?? close;
    return [open, Math.max(open, close), Math.min(open, close), close];
  });
  const { position } = run({
    candles: candlesOf(rows),
    firstIndex: 0,
    timeframeMs: 3_600_000,
    initialBalance: 1000,
    execution: resolveExecution({}, "crypto"),
    strategy: volatilityTarget.create(parametersOf(volatilityTarget, { period: 1, ...parameters })),
    control: null,
  });
  return [...position].map((units) => Math.round(units * 1e6) / 1e6);
}

// An hour of 1% is 0.01 x the root of 8,760 hours a year: half of it is the target.
const TARGET = 0.01 * Math.sqrt(8760) / 2;

Deno.test("volatility-target holds the target over the volatility, and at most the largest exposure", () => {
  // 1%: half of 1000 at 101. None: 0.95 of 1000 at 101, 9.405941 units. 2%: a quarter of 1000 + 9.405941 x 2.02 at 103.02.
  expect(holdings([100, 101, 101, 103.02, 103.02], { target: TARGET })).toEqual([0, 0, 4.950495, 9.405941, 2.472821]);
});

Deno.test("volatility-target leaves small differences alone", () => {
  // 1% down at 99.99: half of 995 is 4.9755 units, which is 0.5% of equity more.
  expect(holdings([100, 101, 101, 99.99, 99.99], { target: TARGET, exposure: 0.5, rebalance: 0.01 })).toEqual([
    ...[0, 0, 4.950495, 4.950495, 4.950495],
  ]);
  const [, , , , last] = holdings([100, 101, 101, 99.99, 99.99], { target: TARGET, exposure: 0.5, rebalance: 0.001 });
  expect(last).toBeGreaterThan(4.96);
});

Deno.test("volatility-target refuses a rebalancing share that is never reached", () => {
  expect(() => holdings([100, 101], { exposure: 0.1 })).toThrow("0.1 is not less than 0.1");
});
