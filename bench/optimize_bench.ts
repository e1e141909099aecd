/**
 * An optimization over HTTP to a process of its own, from its submission to its end, beside the engine alone doing the same trials one
 * after the other: on an embedded database, and on PostgreSQL. The clock's ratio holds on a quiet machine alone; the processor's does on
 * any.
 *
 * `deno run --allow-all bench/optimize_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { openPglite, openPostgres } from "../db/client.ts";
import { resolveExecution } from "../engine/execution.ts";
import { run } from "../engine/run.ts";
import { fixedMs } from "../market/timeframes.ts";
import { type Axis, countPoints, pointAt } from "../research/space.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import type { TestClient } from "../tests/support/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { startProcess } from "../tests/support/process.ts";
import { median, timeWork } from "./measure.ts";
import { archiveYears, readYear } from "./run_path_cases.ts";

const RATIO_GOAL = 1.2;
const HOURS_GOAL_MS = 1000;
const rounds = Number(Deno.args[0] ?? 5);
const year = readYear();

/** Trials of an sma-cross over the year. */
interface Scan {
  readonly name: string;
  readonly timeframe: "1h" | "1m";
  readonly axes: readonly Axis[];
}

const steps = (name: string, first: number, step: number, count: number): Axis => ({
  name,
  first,
  step,
  count,
  decimals: 0,
});
const SCANS: readonly Scan[] = [
  {
    name: "1,000 trials over a year of 1h",
    timeframe: "1h",
    axes: [steps("fast", 5, 1, 20), steps("slow", 30, 4, 50)],
  },
  {
    name: "100 trials over a year of 1m",
    timeframe: "1m",
    axes: [steps("fast", 60, 12, 10), steps("slow", 240, 48, 10)],
  },
];

const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
try {
  const handle = await openPglite(`${DATA_DIR}/database`);
  await archiveYears(handle.db, year);
  await handle.close();
  await measure("embedded", { DATA_DIR });
} finally {
  await Deno.remove(DATA_DIR, { recursive: true });
}
if (Deno.env.has("TEST_DATABASE_URL")) {
  const { url, drop } = await createTestDatabase();
  try {
    const handle = await openPostgres(url, 1);
    await archiveYears(handle.db, year);
    await handle.close();
    await measure("PostgreSQL", { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" });
  } finally {
    await drop();
  }
}

async function measure(kind: string, environment: Record<string, string>): Promise<void> {
  const cores = navigator.hardwareConcurrency;
  const service = await startProcess("serve", { WORKERS: String(cores), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    for (const scan of SCANS) {
      // The service's code becomes quick with use.
      for (let k = 0; k < 2; k++) await optimize(client, scan);
      const [taken, busy, alone, aloneCpu]: [number[], number[], number[], number[]] = [[], [], [], []];
      for (let k = 0; k < rounds; k++) {
        const engine = await timeWork(() => Promise.resolve(runAlone(scan)));
        alone.push(engine.seconds * 1000);
        aloneCpu.push(engine.cpuSeconds * 1000);
        const cpu = readCpuMs(service.pid);
        taken.push(await optimize(client, scan));
        busy.push(readCpuMs(service.pid) - cpu);
      }
      const [takenMs, aloneMs, busyMs] = [median(taken), median(alone), median(busy)];
      await say(`${kind}, ${scan.name}: ${takenMs.toFixed(0)} ms from submission to end`);
      await say(
        `  ${(takenMs / (aloneMs / cores)).toFixed(2)} x the engine alone on ${cores} cores, goal ${RATIO_GOAL} x ` +
          `(${aloneMs.toFixed(0)} ms on one)`,
      );
      const cpuMs = median(aloneCpu);
      await say(
        `  ${(busyMs / cpuMs).toFixed(2)} x its processor time of ${cpuMs.toFixed(0)} ms, goal ${RATIO_GOAL} x`,
      );
      if (scan.timeframe === "1h") await say(`  goal ${HOURS_GOAL_MS} ms from submission to end`);
    }
  } finally {
    await service.end("SIGTERM");
  }
}

/** The engine does all trials, one after the other. */
function runAlone({ axes, timeframe }: Scan): void {
  const space = { axes };
  for (let index = 0; index < countPoints(space); index++) {
    const own = { direction: "both", takeProfitLevel: 0, stopLossLevel: 0, ...pointAt(space, index) };
    run({
      candles: year.candles[timeframe],
      firstIndex: 0,
      initialBalance: 10_000,
      execution: resolveExecution({}, "crypto"),
      timeframeMs: fixedMs(timeframe),
      assetClass: "crypto",
      strategy: smaCross.create(own),
      control: null,
    });
  }
}

/** @returns Milliseconds from the submission to the end. */
async function optimize(client: TestClient, { axes, timeframe }: Scan): Promise<number> {
  const space = Object.fromEntries(axes.map((axis) => {
    if (!("step" in axis)) throw new TypeError("Cannot scan a list");
    const { name, first, step, count } = axis;
    return [name, { min: first, max: first + (count - 1) * step, step }];
  }));
  const dates = { start_date: "2024-01-01", end_date: "2025-01-01" };
  const own = { parameters: { timeframe }, strategy: "SMA Cross", initial_balance: 10_000, space };
  const begun = performance.now();
  const answer = await client.send("POST", "/api/optimizations", {
    optimization: { symbol: "WARM", exchange: "BENCH", ...dates, ...own },
  });
  const id = answer.at("/optimization/id");
  let ended = answer;
  do ended = await client.get(`/api/optimizations/${id}?wait=30`); while (
    ended.at("/optimization/status") === "running"
  );
  const takenMs = performance.now() - begun;
  if (ended.at("/optimization/status") !== "completed") throw new Error(`Cannot measure: ${ended.text}`);
  return takenMs;
}

/** Processor time of a process with all its threads. */
function readCpuMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  // User and system time in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function say(line: string): Promise<void> {
  await Deno.stdout.write(new TextEncoder().encode(`${line}\n`));
}
