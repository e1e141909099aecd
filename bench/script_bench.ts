/**
 * Scripts over a year of minutes, in processor time, in turn with others on the same candles:
 *
 * - each built-in strategy's script, which trades the same, beside the built-in one;
 * - a script whose `decide` is empty beside a built-in one: the cost of asking;
 * - more than 200,000 orders by a script beside the same rules in C as a WebAssembly module.
 *
 * A run has a new instance whose code is not yet optimised, as in a service. `deno run --allow-all bench/script_bench.ts [rounds]`
 */
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
import { measureCpu, median, report } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

const COUNT = 525_600;
const MINUTE_MS = 60_000;
const ROUNDS = Number(Deno.args[0] ?? 7);
const GOAL_BUILTIN = 1.5;
/** Of those that place hundreds of thousands of orders: each is handed over. */
const GOAL_ORDERS = 2;
const MANY_ORDERS = 100_000;
/** Of a decision that does nothing. */
const GOAL_EMPTY = 2;
const GOAL_C = 1.2;

const settings = {
  candles: makeWalk(COUNT, MINUTE_MS),
  firstIndex: 0,
  initialBalance: 1_000_000,
  execution: resolveExecution({ commission: 0 }, "crypto"),
  timeframeMs: MINUTE_MS,
  assetClass: "crypto" as const,
};
const series = seriesOf(settings);

/** Processor milliseconds of a script, and of what it is held against. */
interface Times {
  readonly other: number;
  readonly script: number;
}

await compareEmpty();
await compareBuiltins();
await compareWithC();

async function compareEmpty(): Promise<void> {
  const script = await compileScript("strategy(() => ({ decide() {} }));");
  const { times } = alternate({
    other: () => ({ warmup: 1, prepare() {}, decide() {} }),
    script: () => new ScriptStrategy(() => new ScriptGuest(script, "{}", series), 1),
  });
  await reportScript("an empty decide", times, "built-in", GOAL_EMPTY);
}

async function compareBuiltins(): Promise<void> {
  for (const builtin of BUILTINS) {
    const name = builtin.slug.replaceAll("-", "_");
    const source = await readText(`../strategies/scripts/${name}.ts`).catch(() => null);
    if (source === null) continue;
    const properties = Object.entries(builtin.parameter_schema.properties);
    const parameters = Object.fromEntries(properties.map(([name, property]) => [name, property.default]));
    const script = await compileScript(source);
    const { orders, times } = alternate({
      other: () => builtin.create(parameters),
      script: () => new ScriptStrategy(() => new ScriptGuest(script, JSON.stringify(parameters), series), 1),
    });
    const goal = orders > MANY_ORDERS ? GOAL_ORDERS : GOAL_BUILTIN;
    await reportScript(`${builtin.slug}, ${orders} orders`, times, "built-in", goal);
  }
}

async function compareWithC(): Promise<void> {
  const parameters = { fast: 1, slow: 2, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 };
  const parametersJson = JSON.stringify(parameters);
  const source = await readText("../strategies/scripts/sma_cross.ts");
  const script = await compileScript(source);
  const bytes = await Deno.readFile(new URL("../strategies/examples/c/sma_cross.wasm", import.meta.url));
  const maker = new GuestMaker(checkModule(bytes));
  const { orders, times } = alternate({
    other: () => new GuestStrategy(() => maker.make(parametersJson, series, {}), 1),
    script: () => new ScriptStrategy(() => new ScriptGuest(script, parametersJson, series), 1),
  });
  await reportScript(`${orders} orders`, times, "C", GOAL_C);
}

async function reportScript(measure: string, times: Times, name: string, most: number): Promise<void> {
  const goal = { of: "ratio", most } as const;
  await report({ measure: `script: ${measure}`, ours: times.script, reference: { name, value: times.other }, goal });
}

/** Runs both strategies in turn. @returns The orders of a run, and medians of processor milliseconds. */
function alternate(makers: Readonly<Record<keyof Times, () => Strategy>>) {
  const samples: Record<keyof Times, number[]> = { other: [], script: [] };
  const counts = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ["other", "script"] as const) {
      samples[name].push(
        measureCpu(() => void counts.add(run({ ...settings, strategy: makers[name](), control: null }).orders.count)),
      );
    }
  }
  if (counts.size !== 1) throw new Error(`Cannot compare runs of ${[...counts].join(" and ")} orders`);
  return { orders: Math.max(...counts), times: { other: median(samples.other), script: median(samples.script) } };
}

async function readText(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, import.meta.url));
}
