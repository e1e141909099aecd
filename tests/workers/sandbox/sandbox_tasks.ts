/** Tasks for sandboxes. No library is imported: a script under a service's permissions has those of the service alone. */
import type { Candles } from "../../../engine/candles.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import type { SandboxTask } from "../../../workers/sandbox/task.ts";

/** Candles of a day each that open where the last one closed, and reach half a unit beyond both. */
export function dailyCandles(closes: readonly number[]): Candles {
  const opens = closes.map((close, i) => closes[i - 1] ?? close);
  return {
    time: Float64Array.from(closes, (_, i) => Date.UTC(2024, 0, 1) + i * 86_400_000),
    open: Float64Array.from(opens),
    high: Float64Array.from(closes, (close, i) => Math.max(close, opens[i]!) + 0.5),
    low: Float64Array.from(closes, (close, i) => Math.min(close, opens[i]!) - 0.5),
    close: Float64Array.from(closes),
    volume: Float64Array.from(closes, () => 1),
  };
}

/** A random walk of prices in steps of a hundredth, the same for the same seed. */
export function wanderingCloses(count: number, seed = 1): number[] {
  let state = seed;
  let cents = 10_000;
  return Array.from({ length: count }, () => {
    state = state * 48_271 % 2_147_483_647;
    cents = Math.max(5000, cents + Math.round((state / 2_147_483_647 - 0.5) * 200));
    return cents / 100;
  });
}

/** A run over all of the candles, without lookback. */
export function taskOver(candles: Candles, overrides: Partial<SandboxTask> = {}): SandboxTask {
  return {
    candles,
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: 86_400_000,
    assetClass: "crypto",
    finer: null,
    seed: 7,
    ...overrides,
  };
}
