/** The examples in other languages, as a person starts them, trade as the built-in does: to the last bit. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import { run, type RunResult } from "../../../../engine/run.ts";
import { smaCross } from "../../../../strategies/builtin/sma_cross.ts";
import { permissionFor } from "../../../../workers/egress/guard.ts";
import { runInSandbox } from "../../../../workers/sandbox/process.ts";
import { MINUTE_MS, remoteTask } from "./endpoints.ts";

const EXAMPLES = new URL("../../../../strategies/examples/", import.meta.url).pathname;
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  python: ["python3", `${EXAMPLES}python/sma_cross.py`, "--port", "0"],
  typescript: [
    Deno.execPath(),
    "run",
    "--no-config",
    "--allow-net=127.0.0.1",
    `${EXAMPLES}typescript/sma_cross.ts`,
    "--port=0",
  ],
};
const PARAMETERS = [
  { fast: 10, slow: 30, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 },
  { fast: 5, slow: 21, direction: "long", takeProfitLevel: 0.004, stopLossLevel: 0.002 },
  { fast: 2, slow: 3, direction: "both", takeProfitLevel: 0.001, stopLossLevel: 0.003 },
];

/** A random walk in cents that often stands still, so that averages touch and tie. */
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

/** Starts an example and gives its URL, which is the first thing that it says. */
async function start(command: readonly string[]) {
  const [name = "", ...args] = command;
  const child = new Deno.Command(name, { args, stdout: "piped", stderr: "null", stdin: "null" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  return {
    url: value.trim(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      while (!(await reader.read()).done);
      await child.status;
    },
  };
}

for (const [language, command] of Object.entries(COMMANDS)) {
  Deno.test(`the SMA cross in ${language}, asked from a sandbox process, trades as the built-in`, async () => {
    await using example = await start(command);
    const candles = walk(6000);
    const execution = resolveExecution({ commission: 0.0005, spread: 0.0001 }, "crypto");
    for (const parameters of PARAMETERS) {
      const common = { candles, firstIndex: 50, initialBalance: 10_000, execution, timeframeMs: MINUTE_MS };
      const builtin = run({ ...common, strategy: smaCross.create(parameters), control: null });
      const task = await remoteTask(example.url, { ...common, parameters, lookbackCandles: parameters.slow });
      const outcome = await runInSandbox({ kind: "remote", task }, {
        deadlineMs: 60_000,
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

/** What a run did, without its notes. */
function same({ trades, equity, position, orders, metrics }: RunResult) {
  return { trades, equity, position, orders, metrics };
}
