import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import type { RunLimits } from "../../../workers/backtest/pool.ts";
import { Runner } from "../../../workers/backtest/runner.ts";
import { MINUTE_MS, remoteTask, serveJson, wave } from "../sandbox/remote/endpoints.ts";

function limits(signal: AbortSignal): RunLimits {
  return { deadlineMs: 60_000, waitMs: 60_000, signal, onProgress: () => {} };
}

Deno.test("no runs are held in advance while a run in a process of its own is slow", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Response>();
  await using endpoint = serveJson(() => {
    asked.resolve();
    return answer.promise;
  });
  const runner = new Runner(1, { allow: new Set([new URL(endpoint.url).host]) }, { typescript: "on", python: "on" });
  const task = {
    candles: wave(40),
    firstIndex: 0,
    initialBalance: 1000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: MINUTE_MS,
    assetClass: "crypto" as const,
    finer: null,
    seed: 7,
  };
  const stop = new AbortController();
  const quick = { ...task, slug: "buy-and-hold", parameters: {} };
  // The first run includes the start of its worker; after many runs the mean is that of a quick run.
  for (let i = 0; i < 1000 && runner.runsWanted === 1; i++) {
    expect((await runner.run({ kind: "builtin", task: quick }, limits(stop.signal))).type).toBe("completed");
  }
  expect(runner.runsWanted).toBeGreaterThan(1);
  const remote = { ...await remoteTask(endpoint.url, { timeoutMs: 30_000 }), endpoint: endpoint.url };
  let isOver = false;
  const long = runner.run({ kind: "remote", run: remote }, limits(stop.signal)).finally(() => isOver = true);
  await Promise.race([asked.promise, long]);
  while (runner.runsWanted > 1 && !isOver) await new Promise((resume) => setTimeout(resume, 5));
  stop.abort();
  answer.resolve(new Response());
  expect((await long).type).toBe("stopped");
  // Afterwards runs are held in advance again.
  expect(runner.runsWanted).toBeGreaterThan(1);
  runner.close();
});
