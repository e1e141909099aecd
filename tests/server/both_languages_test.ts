/** Strategies in TypeScript and in Python through the door that users take: registered, and submitted as text. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import type { TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { startProcess } from "../support/process.ts";
import { RANGE } from "./foreign_code.ts";

await buildInterpreter();
const STRATEGIES = new URL("../../strategies/", import.meta.url);
const LOOKBACK = 200;

async function startService() {
  const database = await createTestDatabase("service");
  const environment = { DATABASE_URL: database.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const service = await startProcess("serve", environment);
  const user = service.client();
  await user.signUp();
  const close = async () => {
    await service.end("SIGINT");
    await database.drop();
  };
  return { user, close };
}

async function tradesOf(user: TestClient, strategy: string, parameters: object): Promise<readonly unknown[]> {
  const backtest = { ...RANGE, strategy, parameters };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const id = submitted.at("/backtest/id");
  const done = await user.finish(id);
  expect([done.at("/backtest/status"), done.at("/backtest/error")]).toEqual(["completed", null]);
  return (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
}

async function register(user: TestClient, slug: string, language: string, source: string, lookback: number) {
  const created = await user.send("POST", "/api/strategies", {
    strategy: {
      ...{ slug, name: slug, runtime_type: "script", language, lookback_candles: lookback },
      initial_version: { version: "1.0", runtime_config: { type: "script", source } },
    },
  });
  expect([created.status, created.at("/error")]).toEqual([201, undefined]);
}

Deno.test("each ported strategy is registered and submitted in both languages, and trades the same", async (t) => {
  const { user, close } = await startService();
  const files = [...Deno.readDirSync(new URL("scripts/examples/", STRATEGIES))].map(({ name }) => name).sort();
  for (const file of files) {
    await t.step(file, async () => {
      const name = file.replace(/\.ts$/, "");
      const script = await Deno.readTextFile(new URL(`scripts/examples/${file}`, STRATEGIES));
      const python = await Deno.readTextFile(new URL(`scripts_python/examples/${name}.py`, STRATEGIES));
      const parameters = { timeframe: "30m" };
      const slug = name.replaceAll("_", "-");
      const runs: (readonly unknown[])[] = [];
      for (const [language, source] of [["typescript", script], ["python", python]] as const) {
        await register(user, `${slug}-${language}`, language, source, LOOKBACK);
        runs.push(await tradesOf(user, `${slug}-${language}`, parameters));
        const runtime = { type: "script", language, source, lookbackCandles: LOOKBACK };
        runs.push(await tradesOf(user, slug, { ...parameters, runtime }));
      }
      expect(runs[0]!.length).toBeGreaterThan(0);
      for (const trades of runs) expect(trades).toEqual(runs[0]);
    });
  }
  await close();
});
