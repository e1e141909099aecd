import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { type Backtest, backtestRecords, claimBacktests } from "../../db/backtests.ts";
import { type DatabaseHandle, type Db, openPostgres } from "../../db/client.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import { PostgresClient } from "../../db/postgres/postgres.ts";
import { readEquity } from "../../db/equity.ts";
import { listTrades } from "../../db/row_pages.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import { addUser, archiveTenDays, newTenDaysBacktest, submitBacktest } from "../support/backtests.ts";
import { administer, createTestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

/** A new database with one submitted backtest, and a lock that blocks every read of its candles. */
interface Scene {
  readonly url: string;
  readonly handle: DatabaseHandle;
  readonly queue: OpenQueue;
  readonly id: string;
  readonly unlock: () => Promise<void>;
}

async function withScene(body: (scene: Scene) => Promise<void>): Promise<void> {
  const { url, drop } = await createTestDatabase();
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const handle = await openPostgres(url, 4);
  opened.defer(() => handle.close());
  await addUser(handle.db, "ann");
  await archiveTenDays(handle.db);
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  opened.defer(() => queue.close());
  const lock = await PostgresClient.connect(url);
  opened.defer(() => lock.close());
  await lock.query("begin");
  await lock.query("lock table candle_chunks in access exclusive mode");
  const unlock = async () => void await lock.query("rollback");
  const id = await submitBacktest(handle.db, queue, newTenDaysBacktest("ann"));
  await body({ url, handle, queue, id, unlock });
}

async function untilIs(scene: Scene, status: string): Promise<Backtest> {
  return await until(async () => {
    const record = await backtestRecords.get(scene.handle.db, { id: scene.id, ownerId: "ann" });
    return record?.status === status && record;
  });
}

Deno.test("a killed worker's run is taken again and stored once", () =>
  withScene(async (scene) => {
    const { url, handle, queue, id, unlock } = scene;
    const worker = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", "--no-check", new URL("./worker_process.ts", import.meta.url).pathname, url],
      stdout: "null",
      stderr: "null",
    }).spawn();
    expect(await untilIs(scene, "running")).toMatchObject({ attempts: 1 });
    worker.kill("SIGKILL");
    await worker.status;
    await unlock();
    // Pretend that the ten seconds have passed after which a missing heartbeat is noticed.
    await handle.db.execute(sql`update pgboss.job set heartbeat_on = heartbeat_on - interval '10 seconds'`);
    await queue.work(1);
    expect(await untilIs(scene, "completed")).toMatchObject({ attempts: 2, error: null });
    expect(await listTrades(handle.db, { backtestId: id, ownerId: "ann", after: 0, limit: 10 })).toHaveLength(1);
  }));

Deno.test("a run whose connection ends is taken again at once, at no cost in attempts", () =>
  withScene(async (scene) => {
    const { url, queue, unlock } = scene;
    await queue.work(1);
    const cut = () =>
      administer(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query ilike '%candle_chunks%'`,
      );
    await until(async () => (await cut()).length > 0);
    await unlock();
    expect(await untilIs(scene, "completed")).toMatchObject({ attempts: 2, error: null });
    // The raised limit proves that the job was given back: a missing heartbeat leaves the limit as it is.
    const jobs = await administer(url, "select state, retry_count, retry_limit from pgboss.job");
    expect(jobs).toEqual([{ state: "completed", retry_count: 1, retry_limit: 10 }]);
  }));

Deno.test("a run that is cancelled while it computes leaves nothing behind", () =>
  withScene(async (scene) => {
    const { handle: { db }, queue, id, unlock } = scene;
    await queue.work(1);
    await untilIs(scene, "running");
    await db.transaction(async (tx: Db) => {
      await backtestRecords.cancel(tx, { id, ownerId: "ann" });
      await queue.dequeue(tx, "backtest", { id, ownerId: "ann" });
    });
    await unlock();
    await queue.close();
    expect(await backtestRecords.get(db, { id, ownerId: "ann" })).toMatchObject({ status: "cancelled", result: null });
    expect(await listTrades(db, { backtestId: id, ownerId: "ann", after: 0, limit: 10 })).toEqual([]);
    expect(rowsOf(await db.execute(sql`select id from pgboss.job`))).toEqual([]);
  }));

Deno.test("a worker that was given up for dead changes nothing when it stores later", () =>
  withScene(async (scene) => {
    const { handle: { db }, queue, id, unlock } = scene;
    await queue.work(1);
    await untilIs(scene, "running");
    // Another worker takes the job that pg-boss hands out again, and claims the record.
    await db.execute(sql`update pgboss.job set retry_count = retry_count + 1 where state = 'active'`);
    expect(await claimBacktests(db, [id])).toMatchObject([{ attempts: 2 }]);
    await unlock();
    // Waits until the first worker has ended.
    await queue.close();
    const key = { backtestId: id, ownerId: "ann" };
    expect(await backtestRecords.get(db, { id, ownerId: "ann" })).toMatchObject({
      status: "running",
      attempts: 2,
      result: null,
    });
    expect(await listTrades(db, { ...key, after: 0, limit: 10 })).toEqual([]);
    expect(await readEquity(db, key)).toBeNull();
    expect(rowsOf(await db.execute(sql`select id, retry_count from pgboss.job where state = 'active'`))).toEqual([
      { id, retry_count: 1 },
    ]);
  }));
