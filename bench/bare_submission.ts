/** The database's part of submissions alone: their statements, and pg-boss with nothing to do. */
import { PgBoss } from "pg-boss";
import { v7 as uuidv7 } from "uuid";
import type { DatabaseHandle } from "../db/client.ts";
import { PostgresClient } from "../db/postgres/postgres.ts";
import { addUser, newTenDaysBacktest, submitBacktest } from "../tests/support/backtests.ts";
import { connectBoss } from "../workers/jobs/boss_database.ts";
import { type OpenQueue, openQueue } from "../workers/queue.ts";
import { type Kind, makeDatabase } from "./both_databases.ts";
import { median } from "./measure.ts";

/** The user whose submissions they are. */
export const OWNER = "bench";
const ROUNDS = 51;

/** A database without a service. */
export interface Bare {
  readonly handle: DatabaseHandle;
  readonly queue: OpenQueue;
  close(): Promise<void>;
}

/** Opens a new database of the kind that a service has. */
export async function openBare(kind: Kind): Promise<Bare> {
  const { open, drop } = await makeDatabase(kind);
  const handle = await open();
  await addUser(handle.db, OWNER);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  const close = async () => {
    await queue.close();
    await handle.close();
    await drop();
  };
  return { handle, queue, close };
}

/** The median milliseconds of a transaction with a record and its job, by the service's own code. */
export async function measureOwnSubmit({ handle: { db }, queue }: Bare): Promise<number> {
  return await measureMedian(() => submitBacktest(db, queue, newTenDaysBacktest(OWNER)));
}

/** The median milliseconds of the same rows written by prepared statements on one connection, without any code of the service's. */
export async function measureBareSubmit({ handle: { connection } }: Bare): Promise<number> {
  const source = connection.kind === "pglite" ? connection.pool : await PostgresClient.connect(connection.url);
  try {
    return await measureMedian(() => source.pipelinedTransaction(submitBare));
  } finally {
    if (connection.kind === "postgres") await source.close();
  }
}

/** The statements of a submission, in two round trips: reads, writes with the commit. @returns Its record. */
export async function submitBare(client: PostgresClient): Promise<{ readonly answer: Promise<unknown> }> {
  const { symbol, exchange, strategy, startDate, endDate, initialBalance, parameters } = newTenDaysBacktest(OWNER);
  const id = uuidv7();
  await Promise.all([
    client.query("select pg_advisory_xact_lock(hashtextextended($1, 0))", [OWNER]),
    client.query("select bytes from backtest_sizes where owner_id = $1", [OWNER]),
    client.query(
      "select min(queue_position), max(queue_position) from backtests where owner_id = $1 and status in ('queued', 'running')",
      [OWNER],
    ),
  ]);
  const written = Promise.all([
    client.query(
      `insert into backtests (id, owner_id, symbol, exchange, strategy, start_date, end_date, initial_balance, parameters,
        queue_position, size_bytes) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 1000) returning *`,
      [id, OWNER, symbol, exchange, strategy, startDate, endDate, initialBalance, parameters],
    ),
    client.query(
      `insert into backtest_sizes (owner_id, bytes) values ($1, 1000)
        on conflict (owner_id) do update set bytes = backtest_sizes.bytes + excluded.bytes`,
      [OWNER],
    ),
    client.query("insert into pgboss.job (id, name, data) values ($1, 'backtests', $2)", [id, { backtestId: id }]),
    client.query("select pg_notify('bare', $1)", [id]),
  ]);
  return { answer: written.then(([[record]]) => record) };
}

async function measureMedian(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let k = 0; k < ROUNDS; k++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** Milliseconds in which pg-boss takes `count` jobs one after another, and hands them out and ends them one by one. */
export async function measureBareQueue({ handle }: Bare, count: number): Promise<number> {
  const { connection } = handle;
  const boss = new PgBoss({
    ...connection.kind === "pglite"
      ? { db: connectBoss(handle, "bench").db, backend: "pglite" }
      : { connectionString: connection.url },
    schedule: false,
    supervise: false,
  });
  boss.on("error", () => {});
  await boss.start();
  await boss.createQueue("bare");
  const round = async () => {
    for (let k = 0; k < count; k++) await boss.send("bare", {});
    for (let jobs = await boss.fetch("bare"); jobs.length > 0; jobs = await boss.fetch("bare")) {
      await boss.complete("bare", jobs);
    }
  };
  await round();
  const begun = performance.now();
  await round();
  const tookMs = performance.now() - begun;
  await boss.stop({ graceful: false });
  return tookMs;
}
