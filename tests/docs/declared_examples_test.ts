/** The examples of declarations that others program against run as they stand. */
import { expect } from "@std/expect";
import { resolveExecution } from "../../engine/execution.ts";
import { run } from "../../engine/run.ts";
import type { Account, Strategy } from "../../engine/strategy.ts";
import { seriesOf } from "../../workers/sandbox/candle_series.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "../../workers/sandbox/sample_candles.ts";
import { runPortfolioScriptDry } from "../../workers/sandbox/script/check_portfolio.ts";
import { compileScript } from "../../workers/sandbox/script/compile.ts";
import { ScriptGuest } from "../../workers/sandbox/script/guest.ts";
import { ScriptStrategy } from "../../workers/sandbox/script/strategy.ts";
import { exampleOf, ROOT } from "../support/pages.ts";

const SETTINGS = {
  candles: sampleCandles(),
  firstIndex: 0,
  initialBalance: 1_000_000,
  execution: resolveExecution({}, "crypto"),
  timeframeMs: SAMPLE_TIMEFRAME_MS,
  assetClass: "crypto",
  control: null,
} as const;

/** The definitions of an example of engine/strategy.ts, checked and run as a module of its own. */
async function define<Names extends string>(code: string, names: readonly Names[]): Promise<Record<Names, unknown>> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const head = `import { type Account, newDraft, type Strategy } from "${ROOT}engine/strategy.ts";`;
  const text = `${head}\n${code}\nexport { ${
    names.join(", ")
  } };\nvoid newDraft;\nexport type { Account, Strategy };\n`;
  await Deno.writeTextFile(`${folder}/example.ts`, text);
  const checked = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--config", `${ROOT}deno.json`, `${folder}/example.ts`],
  }).output();
  expect(new TextDecoder().decode(checked.stderr)).toBe("");
  const made = await import(`file://${folder}/example.ts`);
  await Deno.remove(folder, { recursive: true });
  return made;
}

Deno.test("the example of a script trades", async () => {
  const code = await exampleOf("strategies/scripts/strategy.d.ts", "declare function strategy<");
  const script = await compileScript(code);
  const strategy = new ScriptStrategy(() => new ScriptGuest(script, "{}", seriesOf(SETTINGS)), 1);
  expect(run({ ...SETTINGS, strategy }).trades.count).toBeGreaterThan(1);
});

Deno.test("the example of a script for many markets trades", async () => {
  const code = await exampleOf("strategies/scripts/strategy.d.ts", "declare function portfolio<");
  const job = {
    kind: "check_script",
    source: code,
    language: "typescript",
    parametersJson: "{}",
    candlesMin: 1,
  } as const;
  expect(runPortfolioScriptDry(job, await compileScript(code), () => {}).orders).toBeGreaterThan(5);
});

Deno.test("the example of the engine's Strategy buys once", async () => {
  const code = await exampleOf("engine/strategy.ts", "export interface Strategy {");
  const { rising } = await define(code, ["rising"]);
  const result = run({ ...SETTINGS, strategy: rising as Strategy });
  expect([result.trades.count, result.orders.count]).toEqual([1, 1]);
});

Deno.test("the example of the engine's Account reads it", async () => {
  const code = await exampleOf("engine/strategy.ts", "export interface Account {");
  const { hasLost, shareOf } = await define(code, ["hasLost", "shareOf"]);
  const account: Account = { cash: 20, equity: 80, quantity: 1, entryPrice: 70, initialBalance: 100 };
  expect((hasLost as (account: Account) => boolean)(account)).toBe(true);
  expect((shareOf as (account: Account) => number)(account)).toBe(0.75);
});
