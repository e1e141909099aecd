/** The catalogue's strategies as Python scripts: the same orders, trades and equity as the built-in ones, to the bit. */
import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { compilePython } from "../../workers/sandbox/python/compile.ts";
import { ScriptGuest } from "../../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../../workers/sandbox/script/strategy.ts";
import { runPortfolioScriptDry } from "../../workers/sandbox/script/check_portfolio.ts";
import { INTERPRETER_BYTES_MAX } from "../../workers/sandbox/python/interpreter.ts";
import { describeIndicators } from "../../workers/sandbox/contracts/indicators.ts";
import { failureOfPython, logOfPython, openInterpreter, playPython } from "../workers/sandbox/python/python_scripts.ts";
import { DAYS, taskOver } from "../workers/sandbox/wasm/modules.ts";
import { DAY_MS, daysOf, HOUR_MS, parametersOf, walk, walkCandles } from "./random_runs.ts";

const FOLDER = new URL("../../strategies/scripts_python/", import.meta.url);
const RUNS = 3;

Deno.test("each built-in strategy's Python script trades as the built-in does, to the bit", async (t) => {
  for (const builtin of BUILTINS) {
    await t.step(builtin.slug, async () => {
      const source = await Deno.readTextFile(new URL(`${builtin.slug.replaceAll("-", "_")}.py`, FOLDER));
      const script = compilePython(source, openInterpreter());
      let orders = 0;
      for (let seed = 1; seed <= RUNS; seed++) {
        const candles = walkCandles(builtin.default_frequency === "HOURLY" ? HOUR_MS : DAY_MS, seed);
        const parameters = parametersOf(builtin.parameter_schema.properties, seed);
        const own = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [toSnake(name), value]));
        const settings = { ...taskOver(candles), tradingDays: seed < 3 ? null : daysOf(8), control: null };
        const builtIn = run({ ...settings, strategy: builtin.create(parameters) });
        const makeGuest = () => new ScriptGuest(script, JSON.stringify(own), DAYS);
        const scripted = script.reads.run(() => run({ ...settings, strategy: new ScriptStrategy(makeGuest, 1) }));
        expect(scripted.orders).toEqual(builtIn.orders);
        expect(scripted.trades).toEqual(builtIn.trades);
        expect(scripted.equity).toEqual(builtIn.equity);
        expect(scripted.balances).toEqual(builtIn.balances);
        orders += builtIn.orders.count;
      }
      expect(orders).toBeGreaterThan(0);
    });
  }
});

Deno.test("the examples of PYTHON.md run, and its modules and memory are the interpreter's", async () => {
  const page = await Deno.readTextFile(new URL("../PYTHON.md", FOLDER));
  const examples = [...page.matchAll(/```python\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  expect(examples.length).toBe(5);
  for (const example of examples) {
    if (example.includes("(Portfolio)")) {
      const job = {
        kind: "check_script",
        language: "python",
        source: example,
        parametersJson: "{}",
        candlesMin: 1,
      } as const;
      const { orders } = runPortfolioScriptDry(job, compilePython(example, openInterpreter()), () => {});
      expect(orders).toBeGreaterThan(4);
      continue;
    }
    const { result } = await playPython(example, walk(1));
    expect(result.orders.count).toBeGreaterThan(4);
  }
  const [, list = ""] = /These modules can be imported:\n\n([\s\S]*?)\n\n/.exec(page) ?? [];
  const modules = [...list.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);
  const above = modules.map((name) => `import ${name}`).join("\n");
  expect(await logOfPython("if i == 0: print('there')", "pass", above)).toEqual(["there"]);
  expect(await failureOfPython("import nowhere")).toContain(`there are ${modules.join(", ")}`);
  expect(page).toContain(`${INTERPRETER_BYTES_MAX / 2 ** 20} MiB; more is a \`MemoryError\``);
});

Deno.test("the declaration names each global of a Python script, and no other", async () => {
  const text = await Deno.readTextFile(new URL("__builtins__.pyi", FOLDER));
  // A further form, for a list of the strategy's own, has no words.
  const declared = [...text.matchAll(/^def (\w+)\((?!values: list\[float\])([^)]*)\)/gm)].map((
    [, name, list = ""],
  ) => ({
    name,
    names: list.split(",").map((one) => one.split(":")[0]!.trim()).filter((one) => one !== ""),
  }));
  const indicators = describeIndicators().map(({ name, inputs, numbers, texts }) => ({
    name: toSnake(name),
    names: [...inputs, ...numbers.map((number) => number.name), ...texts].map(toSnake),
  }));
  const others = ["plot", "utc", "resample", "crosses_above", "crosses_below"];
  expect(declared.filter(({ name }) => !others.includes(name!))).toEqual(indicators);
  const names = [...declared.map(({ name }) => name!), "Strategy", "Portfolio", "nan"];
  expect(await logOfPython(`if i == 0: print(all(each is not None for each in (${names.join(", ")})))`)).toEqual([
    "True",
  ]);
  for (const method of ["buy", "sell", "close_trade", "cancel_all", "replace", "protect", "is_working"]) {
    expect(text).toContain(`def ${method}(`);
    expect(await failureOfPython(`orders.${method}`)).toBe("none");
  }
});

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
