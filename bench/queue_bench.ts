/**
 * Short backtests through queue and store, beside pg-boss alone with nothing to do, on the same database in the same run.
 *
 * `deno run --allow-all bench/queue_bench.ts [backtests]`: on PGlite and PostgreSQL, with TEST_DATABASE_URL as
 * `deno task bench` sets it.
 */
import { PgBoss } from "pg-boss";
import { backtestRecords, insertBacktest } from "../db/backtests.ts";
import { listBacktests } from "../db/backtest_lists.ts";
import type { DatabaseHandle, Db } from "../db/client.ts";
import { addUser, archiveTenDays, newTenDaysBacktest } from "../tests/support/backtests.ts";
import { DATABASES, openTestDatabase } from "../tests/support/database.ts";
import { type OpenQueue, openQueue } from "../workers/queue.ts";
import { report } from "./measure.ts";

const OWNER = "bench";
const WORKERS = 2;
const SUBMITTERS = 16;
const LATENCY_SAMPLES = 50;

const count = Number(Deno.args[0] ?? 2000);
for (const kind of DATABASES) {
  const handle = await openTestDatabase(kind);
  try {
    await measure(kind, handle);
  } finally {
    await handle.close();
  }
}

async function measure(kind: string, handle: DatabaseHandle): Promise<void> {
  await addUser(handle.db, OWNER);
  await archiveTenDays(handle.db);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  try {
    const enqueuedPerSecond = await rate(() => submitAll(handle.db, queue));
    const donePerSecond = await rate(async () => {
      await queue.work(WORKERS);
      await untilNoneIs(handle.db, "queued");
      await untilNoneIs(handle.db, "running");
    });
    const latencies = await measureLatencies(handle.db, queue);
    const { connection } = handle;
    const bare = connection.kind === "postgres" ? await measureBare(connection.url) : null;
    const row = (measure: string, ours: number, unit: string) =>
      report({ measure: `${kind}: ${count} backtests of 10 candles, ${measure}`, ours, unit });
    await row("submitted", enqueuedPerSecond, "a second");
    await report({
      measure: `${kind}: ${count} backtests of 10 candles, run and stored`,
      ours: donePerSecond,
      unit: "a second",
      reference: bare === null ? null : { name: "pg-boss alone", value: bare },
      goal: bare === null ? null : { of: "ratio", least: 0.8 },
    });
    await row("submitted to running", latencies[LATENCY_SAMPLES >> 1]!, "ms");
  } finally {
    await queue.close();
  }
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
    await queue.enqueue(tx, "backtest", { id, ownerId }, 0);
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
    let record = await backtestRecords.get(db, { id, ownerId: OWNER });
    while (record?.status !== "completed") {
      await pause(1);
      record = await backtestRecords.get(db, { id, ownerId: OWNER });
    }
    latencies.push((record.startedAt?.getTime() ?? NaN) - begun);
  }
  return latencies.sort((a, b) => a - b);
}

/** Jobs a second of pg-boss alone, by as many loops as there are workers: each takes a job and completes it. */
async function measureBare(connectionString: string): Promise<number> {
  const boss = new PgBoss({ connectionString, max: 4, schedule: false });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("bare");
  await boss.insert("bare", Array.from({ length: count }, () => ({ data: {} })));
  const loop = async () => {
    for (let jobs = await boss.fetch("bare"); jobs.length > 0; jobs = await boss.fetch("bare")) {
      await boss.complete("bare", jobs);
    }
  };
  const perSecond = await rate(async () => void await Promise.all(Array.from({ length: WORKERS }, loop)));
  await boss.stop({ graceful: false });
  return perSecond;
}

function pause(ms: number): Promise<void> {
  return new Promise((resume) => setTimeout(resume, ms));
}
