import { expect } from "@std/expect";
import { eq, inArray, type SQL, sql } from "drizzle-orm";
import { backtestRecords, insertBacktest } from "../../db/backtests.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import { type Db, openPostgres } from "../../db/client.ts";
import { insertCheck, nextCheckPosition, readVerdict } from "../../db/module_checks.ts";
import { storeModule } from "../../db/modules.ts";
import { lockUser, readUsage } from "../../db/quotas.ts";
import { backtests } from "../../db/schema.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import { addUser, archiveTenDays, newTenDaysBacktest, untilEnded } from "../support/backtests.ts";
import { createTestDatabase } from "../support/database.ts";
import { clusterEnvironment } from "../faults/cluster.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { compileWat, strategyWat } from "./sandbox/wasm/modules.ts";

const MODULES = {
  endless: compileWat(strategyWat({ onCandle: "(loop $again (br $again)) (i32.const 0)" })),
  quick: compileWat(strategyWat({})),
} as const;

Deno.test("endless modules of one user delay neither runs nor registrations of others, and lose nothing", async (t) => {
  const { url, drop } = await createTestDatabase("service");
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const { db, ...handle } = await openPostgres(url, 4);
  opened.defer(() => handle.close());
  const queue = await openQueue({ handle: { db, ...handle }, runSecondsMax: 600 });
  opened.defer(() => queue.close());
  for (const user of ["eve", "ann", "bob"]) await addUser(db, user);
  for (const [sha256, data] of Object.entries(MODULES)) await storeModule(db, { sha256, data });
  await archiveTenDays(db);
  const worker = await startProcess("worker", { ...clusterEnvironment(url), WORKERS: "1" });
  opened.defer(async () => void await worker.end("SIGTERM"));

  await t.step("a run that takes the spare place makes way for others, and gets the next place", async () => {
    const eves = [await submit(db, queue, "eve", "endless"), await submit(db, queue, "eve", "endless")];
    await until(async () => await db.$count(backtests, eq(backtests.status, "running")) === 1);
    expect(await run(db, queue, "bob", "quick")).toBe("completed");

    const id = await submit(db, queue, "ann", "endless");
    const readAnns = async () => await backtestRecords.get(db, { id, ownerId: "ann" });
    await until(async () => (await readAnns())?.status === "running");
    for (const sha256 of [undefined, "quick"] as const) expect(await run(db, queue, "bob", sha256)).toBe("completed");
    expect(await until(async () => (await readAnns())?.status === "queued" && await readAnns()))
      .toMatchObject({ attempts: 1, progress: 0, startedAt: null, error: null });

    for (const eve of eves) await cancel(db, queue, eve, "eve");
    await until(async () => (await readAnns())?.attempts === 2);
    await cancel(db, queue, id, "ann");
    expect(await db.$count(backtests, eq(backtests.status, "failed"))).toBe(0);
  });

  await t.step("so do checks of modules", async () => {
    const ids = [await ask(db, queue, "eve", "endless"), await ask(db, queue, "ann", "endless")];
    const select = (condition: SQL) =>
      sql`select from pgboss.job where ${inArray(sql`id::text`, ids)} and ${condition}`;
    const count = async (condition: SQL) => rowsOf(await db.execute(select(condition))).length;
    await until(async () => await count(sql`state = 'active'`) === 2);
    const bobs = await ask(db, queue, "bob", "quick");
    expect(await until(() => readVerdict(db, bobs))).toEqual({ accepted: true });
    // The one that made way may be checked again by now.
    expect(await count(sql`(state = 'retry' or retry_count = 1)`)).toBe(1);
  });
});

/** Submits as the API does: a run of a module, or of the built-in strategy. @returns The record's id. */
async function submit(db: Db, queue: OpenQueue, ownerId: string, sha256?: keyof typeof MODULES): Promise<string> {
  const runtime = sha256 === undefined
    ? {}
    : { runtime: { type: "wasm", sha256, minCandles: 1, lookbackCandles: 0 } as const };
  return await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const queuePosition = (await readUsage(tx, ownerId, 100)).queuePosition ?? NaN;
    const { id } = await insertBacktest(tx, { ...newTenDaysBacktest(ownerId, runtime), queuePosition });
    await queue.enqueue(tx, "backtest", { id, ownerId }, queuePosition);
    return id;
  });
}

async function run(db: Db, queue: OpenQueue, ownerId: string, sha256?: keyof typeof MODULES) {
  return (await untilEnded(db, await submit(db, queue, ownerId, sha256), ownerId)).status;
}

async function cancel(db: Db, queue: OpenQueue, id: string, ownerId: string): Promise<void> {
  await db.transaction(async (tx: Db) => {
    await backtestRecords.cancel(tx, { id, ownerId });
    await queue.dequeue(tx, "backtest", { id, ownerId });
  });
}

/** Asks for a module's check as the API does. @returns The check's id. */
async function ask(db: Db, queue: OpenQueue, ownerId: string, module: keyof typeof MODULES): Promise<string> {
  return await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const queuePosition = await nextCheckPosition(tx, ownerId, 3) ?? NaN;
    const check = { ownerId, queuePosition, moduleUrl: null, parameters: {}, lookbackCandles: 0 };
    const id = await insertCheck(tx, { ...check, data: MODULES[module] });
    await queue.enqueueModuleCheck(tx, id, ownerId, queuePosition);
    return id;
  });
}
