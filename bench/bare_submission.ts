/** The database's part of submissions alone: their statements, and pg-boss with nothing to do. */
import { PgBoss } from "pg-boss";
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { addUser, newTenDaysBacktest, submitBacktest } from "../tests/support/backtests.ts";
import { createTestDatabase } from "../tests/support/database.ts";
import { openEmbeddedBossDatabase } from "../workers/jobs/boss_database.ts";
import { type OpenQueue, openQueue } from "../workers/queue.ts";
import { median } from "./measure.ts";

const OWNER = "bench";
const ROUNDS = 51;

/** A database without a service. */
export interface Bare {
  readonly handle: DatabaseHandle;
  readonly queue: OpenQueue;
  close(): Promise<void>;
}

/** Opens a new database of the kind that a service has. */
export async function openBare(kind: "embedded" | "PostgreSQL"): Promise<Bare> {
  if (kind === "PostgreSQL") {
    const { url, drop } = await createTestDatabase();
    return await openWith(await openPostgres(url, 4), drop);
  }
  const folder = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
  return await openWith(await openPglite(`${folder}/database`), () => Deno.remove(folder, { recursive: true }));
}

async function openWith(handle: DatabaseHandle, remove: () => Promise<void>): Promise<Bare> {
  await addUser(handle.db, OWNER);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  const close = async () => {
    await queue.close();
    await handle.close();
    await remove();
  };
  return { handle, queue, close };
}

/** The median milliseconds of a transaction with a record and its job. */
export async function measureBareSubmit({ handle: { db }, queue }: Bare): Promise<number> {
  const times: number[] = [];
  for (let k = 0; k < ROUNDS; k++) {
    const begun = performance.now();
    await submitBacktest(db, queue, newTenDaysBacktest(OWNER));
    times.push(performance.now() - begun);
  }
  return median(times);
}

/** Milliseconds in which pg-boss takes `count` jobs one after another, and hands them out and ends them one by one. */
export async function measureBareQueue({ handle: { connection } }: Bare, count: number): Promise<number> {
  const boss = new PgBoss({
    ...connection.kind === "pglite"
      ? { db: openEmbeddedBossDatabase(connection), backend: "pglite" }
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
