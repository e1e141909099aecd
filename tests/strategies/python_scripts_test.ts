/** The catalogue's strategies as Python scripts: the same orders, trades and equity as the built-in ones, to the bit. */
import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { compilePython } from "../../workers/sandbox/python/compile.ts";
import { ScriptGuest } from "../../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../../workers/sandbox/script/strategy.ts";
import { openInterpreter } from "../workers/sandbox/python/python_scripts.ts";
import { DAYS, taskOver } from "../workers/sandbox/wasm/modules.ts";
import { DAY_MS, daysOf, HOUR_MS, parametersOf, walkCandles } from "./random_runs.ts";

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

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
