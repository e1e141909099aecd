/** SCRIPTS, in services with the permissions of the task. */
import { expect } from "@std/expect";
import { createTestDatabase } from "../support/database.ts";
import { BACKTEST } from "../support/client.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { listDescendants } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { registration } from "./foreign_code.ts";

const SOURCE = await Deno.readTextFile(new URL("../../strategies/scripts/sma_cross.ts", import.meta.url));
const SCRIPT = { type: "script", source: SOURCE, lookbackCandles: 200 };
const PARAMETERS = { ...BACKTEST.parameters, fast: 5, slow: 20, direction: "both" };

const SPACE = { fast: { values: [5, 6] }, slow: { values: [20] } };

/** The command lines of a service's sandboxes. */
function listSandboxes(service: RunningProcess): string[] {
  const lines = listDescendants(service.pid).map(({ pid }) => {
    try {
      return Deno.readTextFileSync(`/proc/${pid}/cmdline`);
    } catch {
      // It has ended meanwhile.
      return "";
    }
  });
  return lines.filter((line) => line.includes("sandbox/child.ts"));
}

Deno.test("SCRIPTS=nojit runs scripts to the same result, and SCRIPTS=off refuses them with the reason", async () => {
  const database = await createTestDatabase("service");
  const start = (mode: string) =>
    startProcess("serve", {
      DATABASE_URL: database.url,
      BETTER_AUTH_SECRET: "a secret of at least 32 characters",
      SCRIPTS: mode,
    });

  let service = await start("nojit");
  let user = service.client();
  await user.signUp();
  const created = await user.send("POST", "/api/strategies", { strategy: registration("slow-cross", SCRIPT) });
  expect([created.status, created.at("/strategy/runtime_type")]).toEqual([201, "script"]);
  const submit = async (strategy: string, more: object = {}) =>
    await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, strategy, parameters: PARAMETERS, ...more } });
  const metricsOf = async (strategy: string) => {
    const id = String((await submit(strategy)).at("/backtest/id"));
    const ended = await user.finish(id);
    expect(ended.at("/backtest/status")).toBe("completed");
    return ended.at("/backtest/result/metrics");
  };
  expect(await metricsOf("slow-cross")).toEqual(await metricsOf("SMA Cross"));
  const trialsOf = async (strategy: string) => {
    const parameters = { timeframe: "1h", direction: "both" };
    const id = await submitOptimization(user, { strategy, parameters, space: SPACE });
    expect((await finishOptimization(user, id)).at("/optimization/error")).toBe(null);
    return (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial).metrics);
  };
  const trials = await trialsOf("slow-cross");
  expect([trials, trials.length]).toEqual([await trialsOf("SMA Cross"), 2]);
  const source = "strategy(({ hangs }) => ({ decide() { while (hangs === 2); } }));";
  const hanging = await submitOptimization(user, {
    strategy: "hangs",
    parameters: { timeframe: "1h", runtime: { type: "script", source } },
    space: { hangs: { values: [1, 2] } },
  });
  await until(async () =>
    (await user.get(`/api/optimizations/${hanging}`)).at("/optimization/status") === "running" &&
    listSandboxes(service).length > 0
  );
  // The one that hangs, and those that wait for a job.
  expect(listSandboxes(service).filter((line) => !line.includes("--jitless"))).toEqual([]);
  await user.send("POST", `/api/optimizations/${hanging}/cancel`);
  const { cookie } = user;
  await service.end("SIGINT");

  service = await start("off");
  user = service.client();
  user.cookie = cookie;
  const refused = await user.send("POST", "/api/strategies", { strategy: registration("other-cross", SCRIPT) });
  expect([refused.status, refused.at("/error/code")]).toEqual([400, "SCRIPTS_NOT_ALLOWED"]);
  expect(refused.at("/error/message")).toMatch(/the operator of this service has switched scripts off/);
  // An equal run would have the stored result, without running the script.
  const other = await submit("slow-cross", { end_date: "2024-01-09" });
  const failed = await user.finish(String(other.at("/backtest/id")));
  expect([failed.at("/backtest/status"), failed.at("/backtest/error/code")]).toEqual(["failed", "SCRIPTS_NOT_ALLOWED"]);
  const none = await submitOptimization(user, {
    strategy: "slow-cross",
    parameters: { timeframe: "1h" },
    space: SPACE,
  });
  expect((await finishOptimization(user, none)).at("/optimization")).toMatchObject({
    status: "failed",
    error: { code: "SCRIPTS_NOT_ALLOWED" },
    trials: { done: 0 },
  });
  expect((await user.finish(String((await submit("SMA Cross")).at("/backtest/id")))).at("/backtest/status"))
    .toBe("completed");
  await service.end("SIGINT");
  await database.drop();
});
