/**
 * Remote strategies in batch mode over a year of minutes, on loopback: candles decided a second, and what the integrity report
 * adds. The endpoint (bench/remote_endpoint.ts) reads every request and does nothing. Then one that answers two orders a candle in
 * pages, in a sandbox process: the goal is that a year of minutes fits into its memory.
 *
 * `deno run --allow-all bench/remote_bench.ts [candles]`
 */
import process from "node:process";
import { resolveExecution } from "../engine/execution.ts";
import { guardEndpoint, permissionFor } from "../workers/egress/guard.ts";
import type { RemoteTask } from "../workers/protocol.ts";
import { RemoteAccount } from "../workers/sandbox/remote/account.ts";
import { decideInBatches } from "../workers/sandbox/remote/batch.ts";
import { RemoteClient } from "../workers/sandbox/remote/client.ts";
import { BatchChecks } from "../workers/sandbox/remote/integrity.ts";
import { runInSandbox } from "../workers/sandbox/process.ts";
import { SANDBOX_BYTES_MAX } from "../workers/sandbox/task.ts";
import { median } from "./measure.ts";

const ROUNDS = 7;
const MINUTE_MS = 60_000;
const count = Number(Deno.args[0] ?? 525_600);

for (const packed of [false, true]) {
  for (const lookbackCandles of [30, 500]) {
    const how = `${packed ? "gzip" : "plain"}, ${lookbackCandles} candles of history`;
    const { decideMs, checkMs, checkShare } = await measure(packed, lookbackCandles);
    const share = (100 * checkShare).toFixed(1);
    const perSecond = Math.round(1000 * count / decideMs).toLocaleString("en");
    await print(
      `${how}: ${perSecond} candles a second; the integrity report adds ${checkMs.toFixed(0)} ms, ` +
        `${share}% of the run's processor time (goal: 10%)`,
    );
  }
}

await placeTwoOrders();

/** Two orders a candle, in a sandbox process with the memory of a backtest. */
async function placeTwoOrders(): Promise<void> {
  await using endpoint = await startEndpoint("--orders");
  const task = await makeTask(endpoint.url, 30);
  const begun = performance.now();
  const outcome = await runInSandbox({ kind: "remote", task }, {
    deadlineMs: 600_000,
    memoryBytesMax: SANDBOX_BYTES_MAX,
    address: permissionFor(task.endpoint),
    onProgress: () => {},
    signal: new AbortController().signal,
  });
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const how = outcome.type === "completed"
    ? `completed with ${outcome.result.orders.count.toLocaleString("en")} orders`
    : JSON.stringify(outcome);
  await print(`two orders a candle in pages: ${how} in ${seconds} s (goal: completed)`);
}

async function startEndpoint(...options: readonly string[]): Promise<{ readonly url: string } & AsyncDisposable> {
  const script = new URL("./remote_endpoint.ts", import.meta.url).pathname;
  const args = ["run", "--allow-net=127.0.0.1", script, ...options];
  const child = new Deno.Command(Deno.execPath(), { args, stdout: "piped" }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: url = "" } = await reader.read();
  return {
    url: url.trim(),
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.read();
      await child.status;
    },
  };
}

async function measure(packed: boolean, lookbackCandles: number) {
  await using endpoint = await startEndpoint(...(packed ? ["--gzip"] : []));
  const task = await makeTask(endpoint.url, lookbackCandles);
  const decideMs: number[] = [];
  const checkMs: number[] = [];
  const checkShares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const client = new RemoteClient(task);
    const account = new RemoteAccount(task);
    const [begun, begunCpu] = [performance.now(), process.cpuUsage()];
    const decisions = await decideInBatches(task, client, account, () => {});
    const result = account.finish();
    const [decided, runCpu] = [performance.now(), process.cpuUsage(begunCpu)];
    await new BatchChecks(task, client, decisions, result).run();
    const cpu = process.cpuUsage(begunCpu);
    decideMs.push(decided - begun);
    checkMs.push(performance.now() - decided);
    checkShares.push((cpu.user + cpu.system) / (runCpu.user + runCpu.system) - 1);
    client.close();
  }
  return { decideMs: median(decideMs), checkMs: median(checkMs), checkShare: median(checkShares) };
}

/** A random walk in cents, every price with the digits that prices have. */
async function makeTask(url: string, lookbackCandles: number): Promise<RemoteTask> {
  let state = 1;
  const random = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
  const column = () => {
    let cents = 6_000_000;
    return Float64Array.from({ length: count }, () => (cents += Math.round((random() - 0.5) * 4000)) / 100);
  };
  return {
    runId: "bench",
    endpoint: await guardEndpoint(url, { allow: new Set([new URL(url).host]) }),
    mode: "batch",
    timeoutMs: 10_000,
    lookbackCandles,
    minCandles: 1,
    parameters: {},
    candles: {
      time: Float64Array.from({ length: count }, (_, i) => Date.UTC(2024, 0, 1) + i * MINUTE_MS),
      open: column(),
      high: column(),
      low: column(),
      close: column(),
      volume: Float64Array.from({ length: count }, () => Math.round(random() * 1e6) / 1e4),
    },
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: MINUTE_MS,
    assetClass: "crypto",
    seed: 1,
  };
}

async function print(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}
