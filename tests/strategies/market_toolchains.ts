/**
 * Strategies in C and Rust that decide on many markets, built by the commands in their READMEs, registered and run over HTTP:
 * `deno task test:debian`, on Debian 12. They trade as the same scripts in TypeScript do.
 */
import { expect } from "@std/expect";
import { join } from "node:path";
import { runCommand } from "../cli/strategy_support.ts";
import type { TestClient } from "../support/client.ts";
import { importStock, inline, INPUTS, run } from "../support/input_runs.ts";
import { CAREFUL_SCRIPT, RISING_SCRIPT } from "../support/market_scripts.ts";
import { serveMarkets } from "../support/made_markets.ts";
import { registration } from "../server/foreign_code.ts";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url).pathname;
// Debian's compilers: they built the committed modules.
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";
const SYMBOLS = ["AAA", "BBB", "CCC"];
const instruments = SYMBOLS.map((symbol) => ({ symbol, exchange: "LAB" }));
const ROTATION = { top: 2, lookback: 48, skip: 1, filter: -0.5, every: "day", exposure: 0.9, minTrade: 0.01 };

/** Draws a market's longer candles, as the modules do. */
const DRAWING_SCRIPT = CAREFUL_SCRIPT.replace(
  "decide(now, markets, account, orders) {",
  `prepare(markets) { this.longer = resample(markets[1], "4h"); },
  decide(now, markets, account, orders) {
    if (markets[1].i >= 0) plot("four hours", this.longer.close[markets[1].i]);`,
);

Deno.test("modules in C and Rust decide on many markets as scripts do", async (t) => {
  const { service, user, endService } = await serveMarkets(SYMBOLS);
  await importStock(service.url);
  for (const [language, source] of [["c", "c"], ["rust", "rs"]] as const) {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-build-" });
    await copySources(language, source, folder);
    const build = async (name: string) => {
      const page = await Deno.readTextFile(join(EXAMPLES, language, "README.md"));
      const [, command = ""] = /```sh\n(.+)\n```/.exec(page) ?? [];
      const printed = await runCommand(`${command.replaceAll("sma_cross", name)} 2>&1`, folder, PATH);
      expect(printed).toBe("");
      return {
        type: "wasm",
        artifact: { content_base64: (await Deno.readFile(join(folder, `${name}.wasm`))).toBase64() },
      };
    };
    await t.step(`momentum_rotation in ${language} trades as the built-in does`, async () => {
      const expected = await traded(user, ROTATION, { strategy: "Momentum Rotation" }, true);
      await twin(user, `${language}-rotation`, await build("momentum_rotation"), ROTATION, expected);
    });
    await t.step(`rising_markets in ${language} reads the inputs of each market`, async () => {
      const expected = await traded(user, { inputs: INPUTS, runtime: inline(RISING_SCRIPT) });
      await twin(user, `${language}-rising`, await build("rising_markets"), { inputs: INPUTS }, expected);
    });
    await t.step(`orders, tables, longer candles and plots in ${language} are those of a script`, async () => {
      const parameters = { execution: { commission: 0.001 } };
      const expected = await traded(user, { ...parameters, runtime: inline(DRAWING_SCRIPT) });
      // 41 days of hours.
      expect(expected.drawn).toMatchObject({ plots: [{ name: "four hours" }], series: { length: 984 } });
      await twin(user, `${language}-careful`, await build("careful"), parameters, expected);
    });
    await Deno.remove(folder, { recursive: true });
  }
  await endService();
});

/** The sources of the examples of a language, and the probe. */
async function copySources(language: string, source: string, folder: string): Promise<void> {
  for await (const { name } of Deno.readDir(join(EXAMPLES, language))) {
    if (!name.includes(".wasm")) await Deno.copyFile(join(EXAMPLES, language, name), join(folder, name));
  }
  await Deno.copyFile(new URL(`probes/careful.${source}`, import.meta.url), join(folder, `careful.${source}`));
}

/** Runs a module inline and registered, and expects both to trade so. */
async function twin(
  user: TestClient,
  slug: string,
  runtime: { readonly type: string },
  parameters: object,
  expected: object,
): Promise<void> {
  expect(await traded(user, { ...parameters, runtime })).toEqual(expected);
  const { parameter_schema: _schema, ...strategy } = registration(slug, runtime);
  const created = await user.send("POST", "/api/strategies", { strategy });
  expect([created.status, created.at("/error"), created.at("/strategy/decides_on")]).toEqual([
    201,
    undefined,
    "markets",
  ]);
  expect(await traded(user, parameters, { strategy: slug })).toEqual(expected);
}

/** A completed run: all that it traded and drew, and its figures. */
async function traded(user: TestClient, parameters: object, rest: object = {}, isBuiltin = false) {
  const record = await run(user, { instruments, ...parameters }, rest);
  expect([record.status, record.error]).toEqual(["completed", null]);
  const { metrics, portfolio } = record.result;
  const listOf = async (list: string) =>
    (await user.get(`/api/backtests/${record.id}/${list}?limit=200`)).list(`/${list}`)
      .map((row) => ({ ...Object(row), backtest_id: null }));
  const [trades, orders] = [await listOf("trades"), await listOf("orders")];
  expect(trades.length).toBeGreaterThan(20);
  expect(new Set(trades.map(({ instrument }) => instrument)).size).toBe(3);
  // The built-in draws what it decides by.
  const page = await user.get(`/api/backtests/${record.id}/series?limit=1000`);
  const drawn = isBuiltin ? { plots: [], series: [] } : { plots: page.list("/plots"), series: page.list("/series") };
  return { metrics, portfolio, trades, orders, drawn };
}
