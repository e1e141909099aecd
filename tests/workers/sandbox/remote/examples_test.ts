/** The remote examples, started by their READMEs' commands, trade as the built-in does, to the last bit. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import { run, type RunResult } from "../../../../engine/run.ts";
import { DEFAULT_RULES } from "../../../../strategies/builtin/builtin.ts";
import { smaCross } from "../../../../strategies/builtin/sma_cross.ts";
import { permissionFor } from "../../../../workers/egress/guard.ts";
import { runInSandbox } from "../../../../workers/sandbox/process.ts";
import { MINUTE_MS, remoteTask, startEndpoint } from "./endpoints.ts";

const EXAMPLES = new URL("../../../../strategies/examples/", import.meta.url).pathname;
const PARAMETERS = [
  { fast: 10, slow: 30, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 },
  { fast: 5, slow: 21, direction: "long", takeProfitLevel: 0.004, stopLossLevel: 0.002 },
  { fast: 2, slow: 3, direction: "both", takeProfitLevel: 0.001, stopLossLevel: 0.003 },
];

/** A random walk in cents that often stands still, so that averages are often equal. */
function walk(count: number): Candles {
  let state = 42;
  const random = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
  const close = new Float64Array(count);
  const open = new Float64Array(count);
  let cents = 10_000;
  for (let i = 0; i < count; i++) {
    open[i] = cents / 100;
    if (random() < 0.4) cents += Math.round((random() - 0.5) * 20);
    close[i] = cents / 100;
  }
  return {
    time: Float64Array.from({ length: count }, (_, i) => Date.UTC(2024, 0, 1) + i * MINUTE_MS),
    open,
    high: open.map((price, i) => Math.max(price, close[i]!) + 0.02),
    low: open.map((price, i) => Math.min(price, close[i]!) - 0.02),
    close,
    volume: new Float64Array(count).fill(10),
  };
}

for (const language of ["python", "typescript"]) {
  Deno.test(`the SMA cross in ${language}, called from a sandbox process, trades as the built-in`, async () => {
    await using example = await startEndpoint(`${EXAMPLES}${language}`);
    const candles = walk(6000);
    const execution = resolveExecution({ commission: 0.0005, spread: 0.0001 }, "crypto");
    for (const parameters of PARAMETERS) {
      const common = { candles, firstIndex: 50, initialBalance: 10_000, execution, timeframeMs: MINUTE_MS };
      const builtin = run({
        ...common,
        strategy: smaCross.create(parameters, { ...DEFAULT_RULES, crossThroughTouch: false }),
        control: null,
      });
      const task = await remoteTask(example.url, { ...common, parameters, lookbackCandles: parameters.slow });
      const outcome = await runInSandbox({ kind: "remote", task }, {
        deadlineMs: 120_000,
        memoryBytesMax: 512 * 2 ** 20,
        address: permissionFor(task.endpoint),
        onProgress: () => {},
        signal: new AbortController().signal,
      });
      if (outcome.type !== "completed") throw new Error(JSON.stringify(outcome));
      expect(builtin.metrics.trades).toBeGreaterThan(50);
      expect(same(outcome.result)).toEqual(same(builtin));
      const { lookahead, determinism, warm_up, orders } = outcome.integrity;
      expect([lookahead.status, determinism.status, warm_up.status, orders.status]).toEqual(
        new Array(4).fill("passed"),
      );
    }
  });
}

/** A result without its notes. */
function same({ trades, equity, position, balances, orders, metrics }: RunResult) {
  return { trades, equity, position, balances, orders, metrics };
}
