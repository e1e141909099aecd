/**
 * Prints whether the simulator's compiled code outlives a full collection between two runs. For compiled_code_test.ts, which
 * starts it with V8's functions for its own tests.
 */
import { resolveExecution } from "../../engine/execution.ts";
import { run } from "../../engine/run.ts";
import { Simulation } from "../../engine/simulation.ts";
import { smaCross } from "../../strategies/builtin/sma_cross.ts";

const RUNS = 400;
const CANDLES = 2000;
const HOUR_MS = 3_600_000;

const statusOf = new Function("f", "return %GetOptimizationStatus(f)");
const collect = new Function("gc()");
const price = (i: number) => 100 + 10 * Math.sin(i / 5);
const column = (value: (i: number) => number) => Float64Array.from({ length: CANDLES }, (_, i) => value(i));
const candles = {
  time: column((i) => i * HOUR_MS),
  open: column(price),
  high: column((i) => price(i) + 1),
  low: column((i) => price(i) - 1),
  close: column(price),
  volume: column(() => 1),
};

/** Runs as a worker does: candles and rules arrive as copies, and nothing of a run is left but its result. */
function runOnce(): void {
  const execution = resolveExecution({ commission: 0.001 }, "crypto");
  const parameters = { fast: 3, slow: 9, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  const strategy = smaCross.create(parameters, execution);
  const settings = structuredClone({ candles, execution, firstIndex: 0, timeframeMs: HOUR_MS, initialBalance: 1000 });
  run({ ...settings, strategy, control: null });
}

const { rest, advance, settle } = Simulation.prototype;
const statuses = () => [rest, advance, settle].map((method) => statusOf(method));
const fresh = statuses();
for (let k = 0; k < RUNS; k++) runOnce();
const compiled = statuses();
collect();
const left = statuses();
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify({ fresh, compiled, left })));
