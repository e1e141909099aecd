/**
 * The trials of a slice by a module in processor time, in turn with the same trials by the built-in strategy of its meaning, and with
 * the floor: the module's own code, called bare over candles that its memory has already.
 *
 * `deno run --allow-all bench/optimize_module_bench.ts [rounds]`
 */
import { BufferPool } from "../engine/buffer_pool.ts";
import { createControl } from "../engine/control.ts";
import type { SliceTask } from "../workers/protocol.ts";
import { runSlice } from "../workers/sandbox/builtin_slice.ts";
import { seriesOf } from "../workers/sandbox/candle_series.ts";
import { doWasmRuns } from "../workers/sandbox/wasm/run.ts";
import { measureCpu, median, say } from "./measure.ts";
import { ModuleFloor } from "../tests/workers/sandbox/wasm/module_floor.ts";
import { HOURS, inputsOf, MINUTES, pairsOf, type Scan } from "./optimize_scans.ts";
import { readYear } from "./run_path_cases.ts";

const GOAL = 3;
const ROUNDS = Number(Deno.args[0] ?? 5);
const POOL_BYTES_MAX = 1 << 28;
const LIMITS = { budgetMs: Infinity, returnsMax: Infinity };
const year = readYear();
const module = await Deno.readFile(new URL("../strategies/examples/c/sma_cross.wasm", import.meta.url));

for (const scan of [HOURS, MINUTES]) await measureScan(scan);

async function measureScan(scan: Scan): Promise<void> {
  const kinds = { builtin: timeBuiltin(scan), module: timeModule(scan), floor: timeFloor(scan) };
  const times = { builtin: [] as number[], module: [] as number[], floor: [] as number[] };
  for (let round = 0; round <= ROUNDS; round++) {
    for (const name of ["builtin", "module", "floor"] as const) {
      const ms = kinds[name]();
      // The first of each warms up.
      if (round > 0) times[name].push(ms);
    }
  }
  const [builtin, whole, floor] = [median(times.builtin), median(times.module), median(times.floor)];
  await say(`${scan.name} of a module in C: ${whole.toFixed(0)} ms in a slice`);
  await say(`  ${(whole / builtin).toFixed(2)} x the built-in's ${builtin.toFixed(0)} ms, goal at most ${GOAL} x`);
  await say(
    `  its own code, called bare: ${floor.toFixed(0)} ms; the rest: ${
      ((whole - floor) / builtin).toFixed(2)
    } x the built-in's`,
  );
}

/** @returns Milliseconds of processor time. */
type Timed = () => number;

function settingsOf(scan: Scan) {
  const [first] = inputsOf(scan, year);
  const { strategy: _strategy, control: _control, ...settings } = first!;
  return settings;
}

function parametersOf(scan: Scan) {
  return pairsOf(scan).map((pair) => ({ direction: "both", takeProfitLevel: 0, stopLossLevel: 0, ...pair }));
}

function timeBuiltin(scan: Scan): Timed {
  const pool = new BufferPool(POOL_BYTES_MAX);
  const trials = parametersOf(scan).map((parameters, place) => ({ place, point: place, parameters, lookback: 0 }));
  const task: SliceTask = {
    ...{ ...settingsOf(scan), ...LIMITS, slug: "sma-cross", finer: null, seed: 0, trials },
    ...{ objective: "sharpe", direction: "max", returnsStride: 1 },
  };
  return () =>
    measureCpu(() => {
      const { type } = runSlice(task, createControl(), pool);
      if (type !== "completed") throw new Error(`Cannot measure a slice: it ended as ${type}`);
    });
}

function timeModule(scan: Scan): Timed {
  const task = { ...settingsOf(scan), finer: null, seed: 0 };
  const parametersJson = parametersOf(scan).map((parameters) => JSON.stringify(parameters));
  return () =>
    measureCpu(() => {
      let trials = 0;
      // The archive has no candle before the year.
      const lookback = { lookback: 0, lookbackWanted: 1, canReload: false };
      doWasmRuns(
        { kind: "run_trials", module, candlesMin: 1, ...lookback, ...LIMITS, parametersJson, task },
        { control: createControl(), report: () => void trials++ },
      );
      if (trials !== parametersJson.length) throw new Error(`Cannot measure a slice: it ended after ${trials} trials`);
    });
}

function timeFloor(scan: Scan): Timed {
  const { candles, ...settings } = settingsOf(scan);
  const floor = new ModuleFloor(module, candles, seriesOf(settings));
  return () =>
    parametersOf(scan).reduce((ms, parameters) => ms + measureCpu(floor.prepare(JSON.stringify(parameters))), 0);
}
