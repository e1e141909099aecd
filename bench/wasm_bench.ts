/**
 * WebAssembly strategies beside the built-in of the same meaning, and what their process costs. Every figure is a ratio to something
 * measured in the same run.
 *
 * `deno run --allow-all bench/wasm_bench.ts [candles] [short runs]`
 */
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import type { Strategy } from "../engine/strategy.ts";
import { findBuiltin } from "../strategies/builtin/catalogue.ts";
import { checkModule } from "../workers/sandbox/wasm/check.ts";
import { ModuleFloor } from "../tests/workers/sandbox/wasm/module_floor.ts";
import { GuestMaker } from "../workers/sandbox/wasm/maker.ts";
import { GuestStrategy } from "../workers/sandbox/wasm/strategy.ts";
import { seriesOf } from "../workers/sandbox/candle_series.ts";
import { runInSandbox, type SandboxLimits } from "../workers/sandbox/process.ts";
import { measureCpu, median } from "./measure.ts";

const ROUNDS = 9;
const MINUTE_MS = 60_000;
const MIB = 2 ** 20;
const count = Number(Deno.args[0] ?? 1_000_000);
const shortRuns = Number(Deno.args[1] ?? 500);
const parameters = { fast: 10, slow: 30, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
const parametersJson = JSON.stringify(parameters);
const settings = {
  firstIndex: 0,
  initialBalance: 10_000,
  execution: resolveExecution({}, "crypto"),
  timeframeMs: MINUTE_MS,
  assetClass: "crypto" as const,
};
const modules = new Map<string, Uint8Array>();
for (const [language, folder] of [["C", "c"], ["Rust", "rust"]] as const) {
  modules.set(
    language,
    await Deno.readFile(new URL(`../strategies/examples/${folder}/sma_cross.wasm`, import.meta.url)),
  );
}

await compareLoops();
await compareStarts();
await repeatShortRuns();

/** The strategies alone, in this process, each beside the calls of its module over candles that its memory has already. */
async function compareLoops(): Promise<void> {
  const builtin = findBuiltin("sma-cross");
  if (builtin === undefined) throw new Error("there is no built-in sma-cross");
  const candles = makeCandles(count);
  const makers = new Map<string, () => Strategy>([["built-in", () => builtin.create(parameters)]]);
  for (const [language, bytes] of modules) {
    const maker = new GuestMaker(checkModule(bytes));
    makers.set(language, () => new GuestStrategy(() => maker.make(parametersJson, seriesOf(settings), []), 1));
  }
  const floors = new Map(
    [...modules].map(([name, bytes]) => [name, new ModuleFloor(bytes, candles, seriesOf(settings))]),
  );
  const times = new Map([...makers.keys()].map((name) => [name, new Array<number>()]));
  const bare = new Map([...floors.keys()].map((name) => [name, new Array<number>()]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, make] of makers) {
      times.get(name)!.push(measureCpu(() => run({ ...settings, candles, strategy: make(), control: null })));
    }
    for (const [name, floor] of floors) bare.get(name)!.push(measureCpu(floor.prepare(parametersJson)));
  }
  const own = median(times.get("built-in")!);
  for (const [name, values] of times) {
    const ms = median(values);
    await print(
      `sma-cross, ${name}, ${count} candles: ${ms.toFixed(0)} ms, ${(ms / own).toFixed(2)}x the built-in (goal 2)`,
    );
    if (!bare.has(name)) continue;
    const floor = median(bare.get(name)!);
    await print(
      `  its own code, called bare: ${floor.toFixed(0)} ms; the rest: ${((ms - floor) / own).toFixed(2)}x the built-in`,
    );
  }
}

/** From nothing to the verdict on a module of three bytes, beside a Deno process that does nothing. */
async function compareStarts(): Promise<void> {
  const empty: number[] = [];
  const sandbox: number[] = [];
  const file = await Deno.makeTempFile({ suffix: ".js" });
  // The sandbox's own choice: `deno` where the PATH has one, which may be npm's script.
  const program = isOnPath("deno") ? "deno" : Deno.execPath();
  for (let round = 0; round < 2 * ROUNDS; round++) {
    empty.push(await time(() => new Deno.Command(program, { args: ["run", "--no-config", file] }).output()));
    const job = { kind: "validate", module: new Uint8Array(3), parametersJson, candlesMin: 1 } as const;
    sandbox.push(await time(() => runInSandbox(job, limits())));
  }
  await Deno.remove(file);
  const [emptyMs, sandboxMs] = [median(empty), median(sandbox)];
  const ratio = (sandboxMs / emptyMs).toFixed(2);
  await print(`start: sandbox ${sandboxMs.toFixed(0)} ms, empty process ${emptyMs.toFixed(0)} ms, ${ratio}x (goal 3)`);
}

/** Many small runs one after the other: what this process holds must not grow. */
async function repeatShortRuns(): Promise<void> {
  const module = modules.get("C")!;
  const task = { ...settings, candles: makeCandles(365), finer: null, seed: 1 };
  const once = () =>
    runInSandbox({ kind: "run", module, parametersJson, candlesMin: 1, lookbackWanted: null, task }, limits());
  for (let warm = 0; warm < 20; warm++) await once();
  const before = look();
  const begun = performance.now();
  for (let n = 0; n < shortRuns; n++) {
    const { type } = await once();
    if (type !== "completed") throw new Error(`a run ended as ${type}`);
  }
  const each = ((performance.now() - begun) / shortRuns).toFixed(0);
  const after = look();
  await print(
    `${shortRuns} runs of a year of days: ${each} ms each; memory ${before.residentMib} to ${after.residentMib} MiB, open files ${before.files} to ${after.files}, processes ${after.processes}`,
  );
}

function look(): { readonly residentMib: number; readonly files: number; readonly processes: number } {
  const children = [...Deno.readDirSync("/proc/self/task")].flatMap(({ name }) =>
    Deno.readTextFileSync(`/proc/self/task/${name}/children`).split(" ").filter((pid) => pid !== "")
  );
  const residentMib = Math.round(Deno.memoryUsage().rss / MIB);
  return { residentMib, files: [...Deno.readDirSync("/proc/self/fd")].length, processes: children.length };
}

function limits(): SandboxLimits {
  const { signal } = new AbortController();
  return { deadlineMs: 60_000, memoryBytesMax: 512 * MIB, onProgress: () => {}, signal };
}

/** A random walk in cents. */
function makeCandles(length: number): Candles {
  let state = 1;
  let cents = 1_000_000;
  const step = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32 - 0.5;
  const close = Float64Array.from(
    { length },
    () => (cents = Math.max(10_000, cents + Math.round(step() * 4000))) / 100,
  );
  const open = Float64Array.from(close, (price, i) => close[i - 1] ?? price);
  return {
    time: Float64Array.from(close, (_, i) => Date.UTC(2024, 0, 1) + i * MINUTE_MS),
    open,
    high: Float64Array.from(close, (price, i) => Math.max(price, open[i]!)),
    low: Float64Array.from(close, (price, i) => Math.min(price, open[i]!)),
    close,
    volume: Float64Array.from(close, () => 1),
  };
}

function isOnPath(program: string): boolean {
  try {
    return new Deno.Command(program, { args: ["--version"], stdout: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}
