/** The examples of README.md do what it says. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { blockIn, readPage, runLines } from "../support/pages.ts";
import { startTestService } from "../support/service.ts";

const README = await readPage("README.md");

Deno.test("the README's lines of curl go from sign-up to trades", async () => {
  const service = await startTestService();
  const cwd = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const script = blockIn(README, "sh", "-c jar").replace("http://127.0.0.1:8000", service.url);
  expect(script).toContain(service.url);
  // The second time, the user is known.
  for (const lines of [script, script.replace("sign-up", "sign-in")]) {
    const { code, stdout, stderr } = await runLines(lines, { cwd });
    expect([code, stderr]).toEqual([0, ""]);
    const { trades } = JSON.parse(stdout);
    expect(trades.length).toBeGreaterThan(5);
    expect(trades[0]).toMatchObject({ number: 1, side: expect.stringMatching(/^(long|short)$/) });
  }
  await Deno.remove(cwd, { recursive: true });
  await service.close();
});

Deno.test("the README's first strategy trades alike in both languages, and as the built-in cross does", async () => {
  await buildInterpreter();
  const [typescript, python] = [
    blockIn(README, "ts", "strategy(({ fast = 10"),
    blockIn(README, "python", "class Cross(Strategy)"),
  ];
  const service = await startTestService();
  const user = await service.user();
  const run = async (strategy: string, more: object = {}) => {
    const backtest = {
      ...{
        symbol: "DEMO",
        exchange: "SAMPLE",
        start_date: "2024-01-01",
        end_date: "2024-07-01",
        initial_balance: 10_000,
      },
      ...{ strategy, parameters: { timeframe: "1h", ...more } },
    };
    const submitted = await user.send("POST", "/api/backtests", { backtest });
    const ended = await user.finish(String(submitted.at("/backtest/id")));
    expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
    return ended.at("/backtest/result/metrics");
  };
  const scripted = (language: string, source: string) => run("mine", { runtime: { type: "script", language, source } });
  const builtin = await run("SMA Cross", { direction: "long" });
  expect(await scripted("typescript", typescript)).toEqual(builtin);
  expect(await scripted("python", python)).toEqual(builtin);
  await service.close();
});
