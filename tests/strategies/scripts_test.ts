/** The catalogue's strategies as scripts: the same orders, trades and equity as the built-in ones, to the bit. */
import { decisionMsMax } from "../../workers/sandbox/decision_watch.ts";
import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import { roundCapacity } from "../../workers/sandbox/player.ts";
import { ScriptStrategy } from "../../workers/sandbox/script/strategy.ts";
import { compileScript } from "../../workers/sandbox/script/compile.ts";
import { ScriptGuest } from "../../workers/sandbox/script/guest.ts";
import { describeIndicators } from "../../workers/sandbox/contracts/indicators.ts";
import { LOG_BYTES_MAX, STACK_CHARS_MAX, STACK_LINES_MAX } from "../../workers/sandbox/contracts/log_bounds.ts";
import { LAYOUT, SOURCE_BYTES_MAX } from "../../workers/sandbox/contracts/layout.ts";
import { RUN_ORDERS_MAX, RUN_TAGS_MAX } from "../../workers/sandbox/contracts/abi.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import { DAY_MS, daysOf, HOUR_MS, parametersOf, walk, walkCandles } from "./random_runs.ts";
import { storeCurve } from "../support/stored_curves.ts";
import { dailyCandles, DAYS, taskOver } from "../workers/sandbox/wasm/modules.ts";

const FOLDER = new URL("../../strategies/scripts/", import.meta.url);
const RUNS = 4;

Deno.test("each built-in strategy's script trades as the built-in does, to the bit", async (t) => {
  for (const builtin of BUILTINS) {
    await t.step(builtin.slug, async () => {
      const source = await Deno.readTextFile(new URL(`${builtin.slug.replaceAll("-", "_")}.ts`, FOLDER));
      const script = await compileScript(source);
      let orders = 0;
      for (let seed = 1; seed <= RUNS; seed++) {
        const candles = walkCandles(builtin.default_frequency === "HOURLY" ? HOUR_MS : DAY_MS, seed);
        const parameters = parametersOf(builtin.parameter_schema.properties, seed);
        // Later runs have trading days of eight candles.
        const tradingDays = seed < 3 ? null : daysOf(8);
        const settings = { ...taskOver(candles), tradingDays, control: null };
        const builtIn = run({ ...settings, strategy: builtin.create(parameters) });
        const makeGuest = () => new ScriptGuest(script, JSON.stringify(parameters), DAYS);
        const scripted = run({ ...settings, strategy: new ScriptStrategy(makeGuest, 1) });
        expect(scripted.orders).toEqual(builtIn.orders);
        expect(scripted.trades).toEqual(builtIn.trades);
        expect(scripted.equity).toEqual(builtIn.equity);
        expect(scripted.balances).toEqual(builtIn.balances);
        const { equity, position } = builtIn;
        expect(storeCurve(scripted, settings)).toEqual({
          isPacked: true,
          curve: { time: candles.time, equity, position },
        });
        orders += builtIn.orders.count;
      }
      expect(orders).toBeGreaterThan(0);
    });
  }
});

Deno.test("the declaration names each global of a script, and no other", async () => {
  const text = await Deno.readTextFile(new URL("strategy.d.ts", FOLDER));
  const declared = [...text.matchAll(/^declare (?:function|const) (\w+)/gm)].map(([, name]) => name!);
  const others = ["strategy", "portfolio", "plot", "utc", "resample", "crossesAbove", "crossesBelow", "console"];
  const indicators = describeIndicators().map(({ name }) => name);
  expect([...new Set(declared)].sort()).toEqual([...indicators, ...others].sort());
  for (const { name, inputs, numbers, texts } of describeIndicators()) {
    const [, list = ""] = new RegExp(`^declare function ${name}\\(([^)]*)\\)`, "m").exec(text) ?? [];
    const names = list.split(",").map((one) => one.split(":")[0]!.trim()).filter((one) => one !== "");
    expect(names).toEqual([...inputs, ...numbers.map((number) => number.name), ...texts]);
  }
});

Deno.test("the example of SCRIPTS.md runs, and each of its limits is the code's", async () => {
  const page = await Deno.readTextFile(new URL("../SCRIPTS.md", FOLDER));
  const [, example = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  const guest = new ScriptGuest(await compileScript(example), '{"period":10}', DAYS);
  const { orders } = run({
    ...taskOver(dailyCandles(walk(1))),
    strategy: new ScriptStrategy(() => guest, 1),
    control: null,
  });
  expect(orders.count).toBeGreaterThan(10);
  const limits = [
    SOURCE_BYTES_MAX / 1024,
    LAYOUT.ordersMax,
    RUN_ORDERS_MAX,
    LAYOUT.tagBytesMax,
    RUN_TAGS_MAX,
    LAYOUT.columnsMax,
    LAYOUT.plotsMax,
    LAYOUT.plotNameCharsMax,
    LAYOUT.plotValuesMax,
    Math.floor(LAYOUT.plotValuesMax / roundCapacity(365 * 24 * 60)),
    LAYOUT.periodMax,
    LAYOUT.logLinesMax,
    LAYOUT.lineCharsMax,
    LOG_BYTES_MAX,
    STACK_LINES_MAX,
    STACK_CHARS_MAX,
    LAYOUT.tradesMax,
    decisionMsMax(600_000) / 1000,
  ];
  const [, section = ""] = page.split("## Limits");
  const numbers = [...section.matchAll(/\d[\d,]*/g)].map(([text]) => Number(text.replaceAll(",", "")));
  expect(numbers).toEqual(limits);
  for (const { name } of describeIndicators()) expect(page).toContain(`\`${name}`);
});
