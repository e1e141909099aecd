/**
 * Backtests of short ranges by 1, 2 and 4 worker processes on one PostgreSQL, beside what a simulation predicts that knows only the
 * measurement of one process: `deno task bench scale`. Its figures are of use on a quiet machine alone.
 *
 * The simulation: each process repeats a run, which computes in the process, computes in the database, and waits. What computes shares
 * the machine's cores; nothing else is in anybody's way. Where the measurement is well below, something else is: locks, or the disk.
 */
import { sql } from "drizzle-orm";
import { rowsOf } from "../db/answer_rows.ts";
import { insertBacktest } from "../db/backtests.ts";
import { type Db, openPostgres } from "../db/client.ts";
import { addUser, archiveTenDays, newTenDaysBacktest } from "../tests/support/backtests.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { type RunningProcess, startProcess } from "../tests/support/process.ts";
import { openQueue } from "../workers/queue.ts";
import { readCpuMs, report } from "./measure.ts";

const OWNER = "bench";
const PROCESSES = [1, 2, 4];
const RUNS_OF_PROCESS = Number(Deno.args[0] ?? 600);
/** Of the runs of a measurement, which warm the processes up. */
const WARM_SHARE = 0.4;
const STEP_MS = 0.05;

/** Milliseconds that a run takes. */
interface Stages {
  readonly worker: number;
  readonly database: number;
  readonly waiting: number;
}

let stages: Stages | undefined;
for (const processes of PROCESSES) {
  const found = await measure(processes);
  stages ??= found.stages;
  const { worker, database, waiting } = stages;
  const predicted = simulate(stages, processes, navigator.hardwareConcurrency);
  if (processes === 1) {
    for (const [name, ms] of Object.entries({ worker, database, waiting })) {
      await report({ measure: `a run, ${name}`, ours: ms, unit: "ms" });
    }
  }
  await report({
    measure: `${processes} worker processes on ${navigator.hardwareConcurrency} cores`,
    ours: found.perSecond,
    unit: "runs a second",
    reference: { name: "predicted", value: predicted },
  });
}

async function measure(count: number): Promise<{ readonly perSecond: number; readonly stages: Stages }> {
  const { url, drop } = await createTestDatabase();
  const handle = await openPostgres(url, 4);
  const runs = RUNS_OF_PROCESS * count;
  await addUser(handle.db, OWNER);
  await archiveTenDays(handle.db);
  await submitAll(handle.db, await openQueue({ handle, isWorker: false, runSecondsMax: 60 }), runs);
  const environment = { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters", WORKERS: "1" };
  const workers = await Promise.all(Array.from({ length: count }, () => startProcess("worker", environment)));
  const server = await findServer(handle.db);
  await untilDone(handle.db, Math.floor(runs * WARM_SHARE));
  const [begun, first, before] = [performance.now(), await countDone(handle.db), readTimes(workers, server)];
  await untilDone(handle.db, runs);
  const [ms, after] = [performance.now() - begun, readTimes(workers, server)];
  const done = runs - first;
  const [worker, database] = [(after.worker - before.worker) / done, (after.database - before.database) / done];
  await Promise.all(workers.map((process) => process.end("SIGTERM")));
  await handle.close();
  await drop();
  const waiting = Math.max(0, ms * count / done - worker - database);
  return { perSecond: done * 1000 / ms, stages: { worker, database, waiting } };
}

async function submitAll(db: Db, queue: Awaited<ReturnType<typeof openQueue>>, runs: number): Promise<void> {
  for (let i = 0; i < runs; i++) {
    await db.transaction(async (tx: Db) => {
      const { id, ownerId } = await insertBacktest(tx, newTenDaysBacktest(OWNER));
      await queue.enqueue(tx, "backtest", { id, ownerId }, 0);
    });
  }
  await queue.close();
}

async function countDone(db: Db): Promise<number> {
  const [row] = rowsOf(
    await db.execute(sql`select count(*)::integer as done from backtests where status = 'completed'`),
  );
  return Number(Object(row).done);
}

async function untilDone(db: Db, runs: number): Promise<void> {
  // Seldom, since each question takes a core from those who are measured.
  while (await countDone(db) < runs) await new Promise((resume) => setTimeout(resume, 100));
}

/** The id of PostgreSQL's first process, on this machine. */
async function findServer(db: Db): Promise<number> {
  const [row] = rowsOf(await db.execute(sql`select pg_backend_pid() as pid`));
  const [, parent] = Deno.readTextFileSync(`/proc/${Object(row).pid}/stat`).split(") ").at(-1)?.split(" ") ?? [];
  return Number(parent);
}

function readTimes(workers: readonly RunningProcess[], server: number) {
  const children = Deno.readTextFileSync(`/proc/${server}/task/${server}/children`).trim().split(" ").map(Number);
  return { worker: sumMs(workers.map(({ pid }) => pid)), database: sumMs([server, ...children]) };
}

function sumMs(pids: readonly number[]): number {
  return pids.reduce((ms, pid) => ms + readCpuMs(pid), 0);
}

/** Predicts the runs a second of `count` processes. */
function simulate({ worker, database, waiting }: Stages, count: number, cores: number): number {
  const computing = worker + database;
  // They begin apart, as they do in fact.
  const left = Array.from({ length: count }, (_, i) => ({ computing: computing * (i + 1) / count, waiting }));
  const runsMax = 2_000 * count;
  let [runs, steps] = [0, 0];
  for (; runs < runsMax; steps++) {
    const busy = left.filter((process) => process.computing > 0).length;
    const speed = Math.min(1, cores / Math.max(1, busy));
    for (const process of left) {
      if (process.computing > 0) process.computing -= speed * STEP_MS;
      else process.waiting -= STEP_MS;
      if (process.computing > 0 || process.waiting > 0) continue;
      // A step may do more than was left; the next run has that much less.
      process.computing += computing;
      process.waiting += waiting;
      runs++;
    }
  }
  return runs * 1000 / (steps * STEP_MS);
}
