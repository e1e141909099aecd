/**
 * A sorted page and a surface of a million trials over HTTP, and how long other requests wait meanwhile. The chunks are as large as a
 * second's slice makes them. Needs TEST_DATABASE_URL as `deno task bench` sets it.
 *
 * `deno run --allow-all bench/trials_bench.ts [trials]`
 */
import { eq } from "drizzle-orm";
import { openPostgres } from "../db/client.ts";
import type { Db } from "../db/client.ts";
import { TrialTable } from "../db/codec/trial_table.ts";
import { updateOptimization } from "../db/optimizations.ts";
import { user } from "../db/schema.ts";
import { insertTrialChunk } from "../db/trial_chunks.ts";
import { NUMERIC_METRIC_NAMES } from "../engine/metrics/definitions.ts";
import { Random } from "../research/random_numbers.ts";
import { resultSchema } from "../routers/backtests/backtest_result.ts";
import type { TestClient } from "../tests/support/client.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { addOptimization } from "../tests/support/optimizations.ts";
import { startProcess } from "../tests/support/process.ts";
import { printFigures, quantile } from "./measure.ts";

const TRIALS = Number(Deno.args[0] ?? 1_000_000);
const CHUNK_TRIALS = 2_000;
// A surface has 250,000 cells at most.
const SIDE = Math.min(500, Math.floor(Math.sqrt(TRIALS)));
const HEALTH_GOAL_MS = 50;
const DAY = "2024-02-01T00:00:00.000Z";

const { url, drop } = await createTestDatabase();
const service = await startProcess("serve", {
  DATABASE_URL: url,
  BETTER_AUTH_SECRET: "a secret of at least 32 characters",
  WORKERS: "0",
});
try {
  const client = service.client();
  const email = await client.signUp();
  const id = await storeTrials(email);
  const before = await measure(client, async () => void await new Promise((resolve) => setTimeout(resolve, 1000)));
  const paths = { page: "trials?sort=cagr&limit=20", surface: "surface?x=fast&y=slow&metric=cagr" };
  for (const [name, path] of Object.entries(paths)) {
    const { tookMs, waits, cpuMs } = await measure(client, async () => {
      const answer = await client.get(`/api/optimizations/${id}/${path}`);
      if (answer.status !== 200) throw new Error(`Cannot measure: ${answer.text.slice(0, 500)}`);
    });
    await printFigures(`A ${name} of ${TRIALS} trials`, {
      "until it was answered": `${tookMs.toFixed(0)} ms`,
      "processor time of the service": `${cpuMs} ms`,
      [`99 % of the health requests meanwhile, goal ${HEALTH_GOAL_MS} ms`]: `${quantile(waits, 0.99).toFixed(1)} ms`,
      "the longest of them": `${Math.max(...waits).toFixed(1)} ms`,
      "99 % of them without it": `${quantile(before.waits, 0.99).toFixed(1)} ms`,
    });
  }
} finally {
  await service.end("SIGTERM");
  await drop();
}

/** Does work while another client asks for the service's health again and again. */
async function measure(client: TestClient, work: () => Promise<void>) {
  const waits: number[] = [];
  let isDone = false;
  const asking = (async () => {
    while (!isDone) {
      const asked = performance.now();
      await client.get("/api/health");
      waits.push(performance.now() - asked);
    }
  })();
  const cpu = readCpuMs();
  const begun = performance.now();
  try {
    await work();
  } finally {
    isDone = true;
  }
  const tookMs = performance.now() - begun;
  await asking;
  return { tookMs, waits, cpuMs: readCpuMs() - cpu };
}

/** Processor time of the service with all its threads. */
function readCpuMs(): number {
  const fields = Deno.readTextFileSync(`/proc/${service.pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  // User and system time in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Stores an optimization that has run all its trials. @returns Its id. */
async function storeTrials(email: string): Promise<string> {
  const handle = await openPostgres(url, 1);
  const { db } = handle;
  const [owner] = await db.select({ id: user.id }).from(user).where(eq(user.email, email));
  const axis = (name: string, count: number) => ({ name, first: 1, step: 1, count, decimals: 0 });
  const id = await addOptimization(db, owner!.id, {
    space: { axes: [axis("fast", SIDE), axis("slow", SIDE), axis("stopLossLevel", TRIALS / SIDE ** 2)] },
    trialsMax: TRIALS,
    spacePoints: TRIALS,
  });
  const random = new Random(1);
  for (let first = 0; first < TRIALS; first += CHUNK_TRIALS) await storeChunk(db, id, first, random);
  const done = { points: TRIALS, pointsDone: TRIALS, trials: TRIALS };
  await updateOptimization(db, id, { status: "completed", ...done });
  await handle.close();
  return id;
}

async function storeChunk(db: Db, optimizationId: string, first: number, random: Random): Promise<void> {
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: TRIALS });
  for (let place = first; place < first + CHUNK_TRIALS; place++) {
    const values = Object.fromEntries(NUMERIC_METRIC_NAMES.map((name) => [name, random.normal()]));
    const metrics = resultSchema.shape.metrics.parse({ ...values, start: DAY, end: DAY });
    table.add({ place, point: place }, { metrics, undefinedMetrics: {}, dailyReturns: new Float64Array() });
  }
  const place = { optimizationId, first, window: null, pointsCount: CHUNK_TRIALS, durationMs: 1000 };
  await insertTrialChunk(db, { ...place, ...table.encode() });
}
