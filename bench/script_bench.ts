/**
 * Scripts over a year of minutes, in processor time, in turn with others on the same candles:
 *
 * - Each built-in strategy beside its script, which trades the same, and beside the script as a plain function in the same V8, which is
 *   asked at each candle and calls the book itself: the floor, below which no way of running scripts comes. A built-in that waits for a
 *   cross skips the candles before it, so the floor itself may be above the goal.
 * - A script whose `decide` is empty beside a built-in one: the cost of asking.
 * - More than 200,000 orders by a script beside the same rules in C as a WebAssembly module.
 *
 * A run has a new instance whose code is not yet optimised, as in a service; ratios are of medians. `deno run --allow-all bench/script_bench.ts [rounds]`
 */
import process from "node:process";
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import type { Strategy } from "../engine/strategy.ts";
import { BUILTINS } from "../strategies/builtin/catalogue.ts";
import { seriesOf } from "../workers/sandbox/candle_series.ts";
import { GuestStrategy } from "../workers/sandbox/wasm/strategy.ts";
import { compileScript } from "../workers/sandbox/script/compile.ts";
import { ScriptGuest } from "../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../workers/sandbox/script/strategy.ts";
import { checkModule } from "../workers/sandbox/wasm/check.ts";
import { GuestMaker } from "../workers/sandbox/wasm/maker.ts";
import { median } from "./measure.ts";
import { bareScript } from "./script_floor.ts";

const COUNT = 525_600;
const MINUTE_MS = 60_000;
const ROUNDS = Number(Deno.args[0] ?? 7);
const GOAL_BUILTIN = 1.5;
const GOAL_C = 1.2;

const settings = {
  candles: makeCandles(COUNT),
  firstIndex: 0,
  initialBalance: 1_000_000,
  execution: resolveExecution({ commission: 0 }, "crypto"),
  timeframeMs: MINUTE_MS,
  assetClass: "crypto" as const,
};
const series = seriesOf(settings);

type Maker = () => Strategy;

await compareEmpty();
await compareBuiltins();
await compareWithC();

async function compareEmpty(): Promise<void> {
  const source = "strategy(() => ({ decide() {} }));";
  const script = await compileScript(source);
  const { times: { builtin, floor, script: scripted } } = alternate({
    builtin: () => ({ warmup: 1, prepare() {}, decide() {} }),
    floor: () => bareScript(source, {}, series),
    script: () => new ScriptStrategy(() => new ScriptGuest(script, "{}", series), 1),
  });
  const perCandle = (scripted - builtin) * 1e6 / COUNT;
  await print(
    `an empty decide: built-in ${builtin.toFixed(0)} ms, floor ${floor.toFixed(0)} ms, script ${
      scripted.toFixed(0)
    } ms, ` +
      `${perCandle.toFixed(0)} ns a candle more than the built-in`,
  );
}

async function compareBuiltins(): Promise<void> {
  const ratioTitles = `  script to built-in (goal ${GOAL_BUILTIN})  floor to built-in  script to floor`;
  await print(`${"".padEnd(22)}orders  built-in     floor    script${ratioTitles}`);
  for (const builtin of BUILTINS) {
    const name = builtin.slug.replaceAll("-", "_");
    const source = await readText(`../strategies/scripts/${name}.ts`).catch(() => null);
    if (source === null) continue;
    const properties = Object.entries(builtin.parameter_schema.properties);
    const parameters = Object.fromEntries(properties.map(([name, property]) => [name, property.default]));
    const script = await compileScript(source);
    const parametersJson = JSON.stringify(parameters);
    const { orders, times } = alternate({
      builtin: () => builtin.create(parameters),
      floor: () => bareScript(source, parameters, series),
      script: () => new ScriptStrategy(() => new ScriptGuest(script, parametersJson, series), 1),
    });
    const { builtin: own, floor, script: scripted } = times;
    const cells = [own, floor, scripted].map((ms) => `${ms.toFixed(0)} ms`.padStart(10)).join("");
    const ratios = `${ratio(scripted, own).padStart(31)}${ratio(floor, own).padStart(19)}${
      ratio(scripted, floor).padStart(17)
    }`;
    await print(`${builtin.slug.padEnd(20)}${orders.toLocaleString("en").padStart(8)}${cells}${ratios}`);
  }
}

async function compareWithC(): Promise<void> {
  const parameters = { fast: 1, slow: 2, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  const parametersJson = JSON.stringify(parameters);
  const source = await readText("../strategies/scripts/sma_cross.ts");
  const script = await compileScript(source);
  const bytes = await Deno.readFile(new URL("../strategies/examples/c/sma_cross.wasm", import.meta.url));
  const maker = new GuestMaker(checkModule(bytes));
  const { orders, times: { c, floor, script: scripted } } = alternate({
    floor: () => bareScript(source, parameters, series),
    c: () => new GuestStrategy(() => maker.make(parametersJson, series, []), 1),
    script: () => new ScriptStrategy(() => new ScriptGuest(script, parametersJson, series), 1),
  });
  await print(
    `${orders.toLocaleString("en")} orders: C ${c.toFixed(0)} ms, floor ${floor.toFixed(0)} ms, script ${
      scripted.toFixed(0)
    } ms; script to C ${ratio(scripted, c)} (goal ${GOAL_C}), to floor ${ratio(scripted, floor)}`,
  );
}

/** Runs each strategy in turn. @returns The orders of a run, and medians of processor milliseconds. */
function alternate<Name extends string>(makers: Readonly<Record<Name, Maker>>) {
  const entries: [Name, Maker][] = [];
  for (const name in makers) entries.push([name, makers[name]]);
  const samples = new Map(entries.map(([name]) => [name, new Array<number>()]));
  const counts = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, make] of entries) {
      const begun = process.cpuUsage();
      const { orders } = run({ ...settings, strategy: make(), control: null });
      const { user, system } = process.cpuUsage(begun);
      samples.get(name)!.push((user + system) / 1000);
      counts.add(orders.count);
    }
  }
  if (counts.size !== 1) throw new Error(`Cannot compare runs of ${[...counts].join(" and ")} orders`);
  const times: Partial<Record<Name, number>> = {};
  for (const [name] of entries) times[name] = median(samples.get(name)!);
  return { orders: Math.max(...counts), times: times as Record<Name, number> };
}

/** A random walk of minutes with the digits that prices have. */
function makeCandles(count: number): Candles {
  let state = 1;
  const random = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let cents = 6_000_000;
  for (let i = 0; i < count; i++) {
    const open = cents;
    cents += Math.round((random() - 0.5) * 4000);
    candles.time[i] = Date.UTC(2024, 0, 1) + i * MINUTE_MS;
    candles.open[i] = open / 100;
    candles.close[i] = cents / 100;
    candles.high[i] = (Math.max(open, cents) + Math.round(random() * 500)) / 100;
    candles.low[i] = (Math.min(open, cents) - Math.round(random() * 500)) / 100;
    candles.volume[i] = Math.round(random() * 1e6) / 1e4;
  }
  return candles;
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(2);
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, import.meta.url));
}

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}
