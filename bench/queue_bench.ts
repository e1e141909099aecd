/**
 * Short backtests through queue and store, beside pg-boss alone with nothing to do, on the same database in the same run; and what
 * limits them: processor time of each part, and writing transactions. The rest is waiting.
 *
 * `deno run --allow-all bench/queue_bench.ts [backtests]`: on PGlite and PostgreSQL, with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import { sql } from "drizzle-orm";
import { PgBoss } from "pg-boss";
import { rowsOf } from "../db/answer_rows.ts";
import { getBacktest, insertBacktest } from "../db/backtests.ts";
import { listBacktests } from "../db/backtest_lists.ts";
import type { DatabaseHandle, Db } from "../db/client.ts";
import { addUser, archiveTenDays, newTenDaysBacktest } from "../tests/support/backtests.ts";
import { DATABASES, openTestDatabase } from "../tests/support/database.ts";
import { type OpenQueue, openQueue } from "../workers/queue.ts";
import { findServer, type ProcessorTimes, readProcessorTimes } from "./processor_times.ts";

const OWNER = "bench";
const WORKERS = 2;
const SUBMITTERS = 16;
const LATENCY_SAMPLES = 50;

const count = Number(Deno.args[0] ?? 2000);
for (const kind of DATABASES) {
  const handle = await openTestDatabase(kind);
  try {
    await print(`${kind}, ${count} backtests of 10 candles, ${WORKERS} workers`, await measure(handle));
  } finally {
    await handle.close();
  }
}

async function measure(handle: DatabaseHandle): Promise<Record<string, string>> {
  await addUser(handle.db, OWNER);
  await archiveTenDays(handle.db);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  try {
    const enqueuedPerSecond = await rate(() => submitAll(handle.db, queue));
    const server = await findServer(handle);
    const [before, firstTransaction] = [readProcessorTimes(server), await readTransaction(handle.db)];
    const donePerSecond = await rate(async () => {
      await queue.work(WORKERS);
      await untilNoneIs(handle.db, "queued");
      await untilNoneIs(handle.db, "running");
    });
    const after = readProcessorTimes(server);
    const transactions = await readTransaction(handle.db) - firstTransaction;
    const each = (name: keyof ProcessorTimes) => ((after[name] - before[name]) / count).toFixed(2);
    const cores = (after.main + after.threads + after.database - before.main - before.threads - before.database) /
      1000 *
      donePerSecond / count;
    const latencies = await measureLatencies(handle.db, queue);
    const { connection } = handle;
    const bare = connection.kind === "postgres" ? await measureBare(connection.url, donePerSecond, server) : {};
    return {
      "submitted a second": enqueuedPerSecond.toFixed(0),
      "run and stored a second": donePerSecond.toFixed(0),
      "a run: ms of the main thread": each("main"),
      "a run: ms of other threads": each("threads"),
      "a run: ms of PostgreSQL": each("database"),
      "a run: writing transactions": (transactions / count).toFixed(2),
      [`cores busy, of ${navigator.hardwareConcurrency}`]: cores.toFixed(1),
      ...bare,
      "submitted to running, median ms": latencies[LATENCY_SAMPLES >> 1]!.toFixed(0),
      "submitted to running, slowest ms": latencies.at(-1)!.toFixed(0),
    };
  } finally {
    await queue.close();
  }
}

/** How many transactions have written until now. */
async function readTransaction(db: Db): Promise<number> {
  const [row] = rowsOf(await db.execute(sql`select pg_current_xact_id()::text as id`));
  return Number(Object(row).id);
}

async function rate(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return count * 1000 / (performance.now() - begun);
}

async function submitAll(db: Db, queue: OpenQueue): Promise<void> {
  let left = count;
  const submitter = async () => {
    while (left-- > 0) await submit(db, queue);
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submitter));
}

async function submit(db: Db, queue: OpenQueue): Promise<string> {
  return await db.transaction(async (tx: Db) => {
    const { id, ownerId } = await insertBacktest(tx, newTenDaysBacktest(OWNER));
    await queue.enqueueBacktest(tx, id, ownerId);
    return id;
  });
}

async function untilNoneIs(db: Db, status: "queued" | "running"): Promise<void> {
  while ((await listBacktests(db, { ownerId: OWNER, status, limit: 1 })).length > 0) await pause(50);
}

/** From before the submit to the moment that the record names, on an idle queue; sorted. */
async function measureLatencies(db: Db, queue: OpenQueue): Promise<number[]> {
  const latencies: number[] = [];
  while (latencies.length < LATENCY_SAMPLES) {
    const begun = Date.now();
    const id = await submit(db, queue);
    let record = await getBacktest(db, { id, ownerId: OWNER });
    while (record?.status !== "completed") {
      await pause(1);
      record = await getBacktest(db, { id, ownerId: OWNER });
    }
    latencies.push((record.startedAt?.getTime() ?? NaN) - begun);
  }
  return latencies.sort((a, b) => a - b);
}

/** pg-boss alone, by as many loops as there are workers: each takes jobs and completes them, one at a time or 16. */
async function measureBare(
  connectionString: string,
  donePerSecond: number,
  server: number | null,
): Promise<Record<string, string>> {
  const boss = new PgBoss({ connectionString, max: 4, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("bare");
  const rows: Record<string, string> = {};
  for (const batchSize of [1, 16]) {
    await boss.insert("bare", Array.from({ length: count }, () => ({ data: {} })));
    const loop = async () => {
      for (let jobs = await boss.fetch("bare", { batchSize }); jobs.length > 0;) {
        await boss.complete("bare", jobs);
        jobs = await boss.fetch("bare", { batchSize });
      }
    };
    const before = readProcessorTimes(server);
    const perSecond = await rate(async () => void await Promise.all(Array.from({ length: WORKERS }, loop)));
    const after = readProcessorTimes(server);
    const ms = (after.main + after.database - before.main - before.database) / count;
    rows[`pg-boss alone, by ${batchSize}, a second`] = perSecond.toFixed(0);
    rows[`pg-boss alone, by ${batchSize}: ms of processors`] = ms.toFixed(2);
    rows["ratio to that, goal 0.8"] ??= (donePerSecond / perSecond).toFixed(2);
  }
  await boss.stop({ graceful: false });
  return rows;
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}

async function print(title: string, rows: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(rows).map(([name, value]) => `  ${name.padEnd(36)}${value.padStart(8)}`);
  await Deno.stdout.write(new TextEncoder().encode(`${title}\n${lines.join("\n")}\n`));
}
