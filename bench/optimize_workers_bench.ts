/**
 * Optimizations on PostgreSQL by worker processes of their own, beside an API process without workers:
 *
 * - the trials of a WebAssembly module beside those of the built-in strategy of the same meaning;
 * - two worker processes beside one: their trials a second, which need as many free cores, and their processor time a trial, which
 *   does not;
 * - the most memory that a worker ever held, after few trials, many, and five times as many.
 *
 * `deno run --allow-all bench/optimize_workers_bench.ts [rounds]`, with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import type { TestClient } from "../tests/support/client.ts";
import { type RunningProcess, startProcess } from "../tests/support/process.ts";
import { onPostgres } from "./both_databases.ts";
import { median, readCpuMs, say } from "./measure.ts";
import { HOURS, optimize, pairsOf, type Scan } from "./optimize_scans.ts";
import { readYear } from "./run_path_cases.ts";

const WASM_GOAL = 3;
const WORKERS_GOAL = 1.8;
const MEMORY_GOAL = 1.2;
const KIBIBYTES_A_MIB = 1024;
const MODULE = new URL("../strategies/examples/c/sma_cross.wasm", import.meta.url);
const rounds = Number(Deno.args[0] ?? 3);

/** Some ten slices, so that no process waits long for the other's last one. */
const LONG: Scan = {
  name: "400 trials over a year of 1m",
  timeframe: "1m",
  fast: { first: 60, step: 6, count: 20 },
  slow: { first: 240, step: 24, count: 20 },
};
const FEW: Scan = {
  name: "1,000 trials over a year of 1h",
  timeframe: "1h",
  fast: { first: 5, step: 5, count: 20 },
  slow: { first: 110, step: 16, count: 50 },
};
const MANY: Scan = {
  name: "20,000 trials over a year of 1h",
  timeframe: "1h",
  fast: { first: 5, step: 1, count: 100 },
  slow: { first: 110, step: 4, count: 200 },
};

const MOST: Scan = {
  name: "100,000 trials over a year of 1h",
  timeframe: "1h",
  fast: { first: 2, step: 1, count: 200 },
  slow: { first: 210, step: 1, count: 500 },
};

await onPostgres(readYear(), async (_kind, environment) => {
  const api = await startProcess("serve", { ...environment, WORKERS: "0" });
  try {
    const client = api.client();
    await client.signUp();
    const startWorker = () => startProcess("worker", { ...environment, WORKERS: "1" });
    await compareModule(client, startWorker);
    await compareWorkers(client, startWorker);
    await compareMemory(client, startWorker);
  } finally {
    await api.end("SIGTERM");
  }
});

type StartWorker = () => Promise<RunningProcess>;

/** The time of an optimization by the clock, and its workers' processor time, their sandboxes included. */
interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
}

async function timeScan(
  client: TestClient,
  workers: readonly RunningProcess[],
  scan: Scan,
  runtime?: object,
): Promise<Taken> {
  const readAll = () => workers.reduce((sum, { pid }) => sum + readCpuMs(pid), 0);
  const before = readAll();
  const ms = await optimize(client, scan, runtime);
  return { ms, cpuMs: readAll() - before };
}

function medianOf(taken: readonly Taken[], key: keyof Taken): number {
  return median(taken.map((each) => each[key]));
}

async function compareModule(client: TestClient, startWorker: StartWorker): Promise<void> {
  const artifact = { content_base64: (await Deno.readFile(MODULE)).toBase64() };
  const worker = await startWorker();
  try {
    const [own, module]: [Taken[], Taken[]] = [[], []];
    for (let k = 0; k <= rounds; k++) {
      const taken = [
        await timeScan(client, [worker], HOURS),
        await timeScan(client, [worker], HOURS, { type: "wasm", artifact }),
      ] as const;
      // The first of each warms up.
      if (k === 0) continue;
      own.push(taken[0]);
      module.push(taken[1]);
    }
    const [ms, cpuMs] = (["ms", "cpuMs"] as const).map((key) => medianOf(module, key) / medianOf(own, key));
    await say(`${HOURS.name} of a module in C: ${medianOf(module, "ms").toFixed(0)} ms`);
    await say(`  ${ms!.toFixed(2)} x the built-in's ${medianOf(own, "ms").toFixed(0)} ms, goal at most ${WASM_GOAL} x`);
    await say(`  ${cpuMs!.toFixed(2)} x its processor time`);
  } finally {
    await worker.end("SIGTERM");
  }
}

async function compareWorkers(client: TestClient, startWorker: StartWorker): Promise<void> {
  const taken: Record<1 | 2, Taken[]> = { 1: [], 2: [] };
  for (let k = 0; k < rounds; k++) {
    for (const count of [1, 2] as const) {
      const workers = await Promise.all(Array.from({ length: count }, startWorker));
      await optimize(client, LONG);
      taken[count].push(await timeScan(client, workers, LONG));
      await Promise.all(workers.map((worker) => worker.end("SIGTERM")));
    }
  }
  const trials = pairsOf(LONG).length;
  const [one, two] = [1000 * trials / medianOf(taken[1], "ms"), 1000 * trials / medianOf(taken[2], "ms")];
  await say(`${LONG.name} by two processes: ${two.toFixed(0)} trials a second, by one ${one.toFixed(0)}`);
  await say(
    `  ${
      (two / one).toFixed(2)
    } times as many, goal at least ${WORKERS_GOAL} where two cores are free beside the API and ` +
      `PostgreSQL; there are ${navigator.hardwareConcurrency} in all`,
  );
  const cpu = medianOf(taken[2], "cpuMs") / medianOf(taken[1], "cpuMs");
  await say(
    `  ${cpu.toFixed(2)} x the processor time of one for the same trials: with enough cores, up to ` +
      `${(2 / cpu).toFixed(2)} times as many`,
  );
}

async function compareMemory(client: TestClient, startWorker: StartWorker): Promise<void> {
  const most: number[] = [];
  for (const scan of [FEW, MANY, MOST]) {
    const worker = await startWorker();
    await optimize(client, scan);
    const [, kibibytes = ""] = /VmHWM:\s*(\d+) kB/.exec(Deno.readTextFileSync(`/proc/${worker.pid}/status`)) ?? [];
    await worker.end("SIGTERM");
    most.push(Number(kibibytes) / KIBIBYTES_A_MIB);
    await say(`${scan.name}: at most ${most.at(-1)!.toFixed(0)} MiB in the worker`);
  }
  // Few trials leave V8's heap less garbage than it lets lie.
  const [, many = NaN, all = NaN] = most;
  await say(`  ${(all / many).toFixed(2)} x from ${MANY.name.split(" ")[0]} trials on, goal at most ${MEMORY_GOAL} x`);
}
