/**
 * The way of a backtest, stage by stage as the service's own spans tell it, over HTTP to a process of its own: candles that are read for
 * the first time and again, on an embedded database and on PostgreSQL. Beside each figure, in the same run: the engine alone on the same
 * candles, their chunks unpacked, the bare statements of a submission, and the bare queue. The bench submit has submissions alone.
 *
 * `deno run --allow-all bench/run_path_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import type { TestClient } from "../tests/support/client.ts";
import { Collector } from "../tests/support/collector.ts";
import { startProcess } from "../tests/support/process.ts";
import { measureBareQueue, measureBareSubmit, measureOwnSubmit, openBare } from "./bare_submission.ts";
import { type Kind, onBothDatabases } from "./both_databases.ts";
import { median, report, say } from "./measure.ts";
import { type Case, CASES, measureEngine, measureUnpacking, readYear, SCAN } from "./run_path_cases.ts";
import { readStages, STAGES, type Stages, traceparentOf } from "./run_path_stages.ts";

const SERVICE = "bench";
const SUBMITTERS = 16;
const POLL_MS = 10;
// The time of a run varies by a third on a busy machine: the median of an odd count.
const rounds = Number(Deno.args[0] ?? 9);

const year = await readYear();
const unpackMs = measureUnpacking(year);

await onBothDatabases(year, measure);

async function measure(kind: Kind, environment: Readonly<Record<string, string>>): Promise<void> {
  const collector = new Collector();
  const service = await startProcess("serve", { WORKERS: "2", ...environment, ...collector.environment(SERVICE) });
  try {
    const client = service.client();
    await client.signUp();
    // The service's code becomes quick with use.
    for (const test of CASES) {
      for (let k = 0; k < (test.isLarge ? 1 : 5); k++) await runOnce(client, collector, { ...test, symbol: "WARM" });
    }
    const submitMs: number[] = [];
    for (const test of CASES) submitMs.push(...await measureCase(kind, client, collector, test));
    const bare = await openBare(kind);
    const bareMs = await measureBareSubmit(bare);
    const least = { name: "bare prepared statements", value: bareMs };
    await report({
      measure: `${kind}: submit`,
      ours: median(submitMs),
      reference: least,
      goal: { of: "ratio", most: 1.5 },
    });
    await report({ measure: `${kind}: submit, its transaction`, ours: await measureOwnSubmit(bare), reference: least });
    await measureScans(kind, client, await measureBareQueue(bare, SCAN.count));
    await bare.close();
  } finally {
    await service.end("SIGTERM");
    await collector.close();
  }
}

/** @returns Milliseconds of each submission. */
async function measureCase(
  kind: string,
  client: TestClient,
  collector: Collector,
  test: Case,
): Promise<readonly number[]> {
  const cold: Stages[] = [];
  const warm: Stages[] = [];
  const engine: number[] = [];
  for (const symbol of test.coldSymbols) cold.push(await runOnce(client, collector, { ...test, symbol }));
  for (let k = 0; k < (test.isLarge ? 3 : rounds); k++) {
    // Alternating, because other processes may load the machine for a while.
    engine.push(measureEngine(year, test.timeframe, test.parameters).runMs);
    warm.push(await runOnce(client, collector, { ...test, symbol: "WARM" }));
  }
  const alone = measureEngine(year, test.timeframe, test.parameters);
  const engineMs = median(engine);
  const stage = (runs: readonly Stages[], name: keyof Stages) => median(runs.map((run) => run[name]));
  await say(`${kind}, ${test.name}: milliseconds of each stage again, and (for the first time)`);
  for (const name of STAGES) {
    await say(`  ${stage(warm, name).toFixed(1).padStart(8)}  (${stage(cold, name).toFixed(1)})  ${name}`);
  }
  const name = `${kind}: ${test.name}, ${alone.trades} trades`;
  await report({
    measure: `${name}, again`,
    ours: stage(warm, "total"),
    reference: { name: "engine", value: engineMs },
    goal: test.warmGoalMs === undefined ? { of: "ratio", most: 2.5 } : { of: "ours", most: test.warmGoalMs },
  });
  await report({
    measure: `${name}, for the first time`,
    ours: stage(cold, "total"),
    reference: { name: "unpack and engine", value: unpackMs + engineMs },
    goal: { of: "ratio", most: 2.5 },
  });
  return warm.map((run) => run.validate + run.submit);
}

/** Many runs of one user that differ in a parameter: in one that needs the same candles, and in one that needs others before the range. */
async function measureScans(kind: string, client: TestClient, bareQueueMs: number): Promise<void> {
  await scan(client, (k) => ({ fast: 10, slow: 20 + k }));
  const [shared, different]: [number[], number[]] = [[], []];
  for (let k = 0; k < 3; k++) {
    shared.push(await scan(client, SCAN.shared));
    different.push(await scan(client, SCAN.different));
  }
  const aloneMs = SCAN.count * measureEngine(year, SCAN.timeframe, SCAN.shared(0)).runMs /
    navigator.hardwareConcurrency;
  await report({
    measure: `${kind}: ${SCAN.count} runs, each with a lookback of its own`,
    ours: median(different),
    reference: { name: "with one lookback", value: median(shared) },
    goal: { of: "ratio", most: 1.2 },
  });
  await report({
    measure: `${kind}: ${SCAN.count} runs of one user`,
    ours: median(shared),
    reference: { name: "3 x engine on all cores + bare queue", value: 3 * aloneMs + bareQueueMs },
    goal: { of: "ratio", most: 1 },
  });
}

/** @returns Milliseconds from the first submission to the last result. */
async function scan(client: TestClient, parametersOf: (k: number) => object): Promise<number> {
  const begun = performance.now();
  let next = 0;
  const submitter = async () => {
    while (next < SCAN.count) await submit(client, { timeframe: SCAN.timeframe, parameters: parametersOf(next++) });
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
  for (const status of ["queued", "running"]) {
    while ((await client.get(`/api/backtests?limit=1&status=${status}`)).list("/backtests").length > 0) {
      await new Promise((resume) => setTimeout(resume, POLL_MS));
    }
  }
  return performance.now() - begun;
}

async function runOnce(client: TestClient, collector: Collector, test: Case & { symbol: string }): Promise<Stages> {
  const trace = crypto.randomUUID().replaceAll("-", "");
  const begun = performance.now();
  const id = await submit(client, test, { traceparent: traceparentOf(trace) });
  const ended = await client.get(`/api/backtests/${id}?wait=30`, { traceparent: traceparentOf(trace) });
  const total = performance.now() - begun;
  const status = ended.at("/backtest/status");
  if (status !== "completed") {
    throw new Error(`Cannot measure: ${status}, ${JSON.stringify(ended.at("/backtest/error"))}`);
  }
  const asked = performance.now();
  await client.get(`/api/backtests/${id}`);
  const readBack = performance.now() - asked;
  return await readStages(collector, trace, { total, readBack });
}

async function submit(
  client: TestClient,
  { timeframe, parameters, symbol = "WARM" }: { timeframe: string; parameters: object; symbol?: string },
  headers: Record<string, string> = {},
): Promise<unknown> {
  const dates = { start_date: "2024-01-01", end_date: "2025-01-01" };
  const own = { parameters: { timeframe, ...parameters }, strategy: "SMA Cross", initial_balance: 10_000 };
  const backtest = { symbol, exchange: "BENCH", ...dates, ...own, fresh: true };
  const answer = await client.send("POST", "/api/backtests", { backtest }, headers);
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  return answer.at("/backtest/id");
}
