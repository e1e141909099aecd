import { expect } from "@std/expect";
import { and, eq, gt, type SQL } from "drizzle-orm";
import { cancelBacktest, insertBacktest } from "../../db/backtests.ts";
import { type DatabaseHandle, type Db, openPostgres } from "../../db/client.ts";
import { insertCheck, nextCheckPosition, readVerdict } from "../../db/module_checks.ts";
import { storeModule } from "../../db/modules.ts";
import { lockUser, nextQueuePosition } from "../../db/quotas.ts";
import { backtests, moduleChecks } from "../../db/schema.ts";
import { type OpenQueue, openQueue } from "../../workers/queue.ts";
import { addUser, archiveTenDays, newTenDaysBacktest, untilEnded } from "../support/backtests.ts";
import { createTestDatabase } from "../support/database.ts";
import { clusterEnvironment } from "../faults/cluster.ts";
import { startProcess } from "../support/process.ts";
import { until } from "../support/until.ts";
import { compileWat, strategyWat } from "./sandbox/wasm/modules.ts";

const RUN_SECONDS_MAX = 300;
const ENDLESS = compileWat(strategyWat({ onCandle: "(loop $again (br $again)) (i32.const 0)" }));
const QUICK = compileWat(strategyWat({}));

/** A worker process with the permissions of its task, and the queue of another process that submits. */
async function withWorker(
  workers: number,
  body: (handle: DatabaseHandle, queue: OpenQueue) => Promise<void>,
): Promise<void> {
  const { url, drop } = await createTestDatabase("service");
  await using opened = new AsyncDisposableStack();
  opened.defer(drop);
  const handle = await openPostgres(url, 4);
  opened.defer(() => handle.close());
  const queue = await openQueue({ handle, runSecondsMax: RUN_SECONDS_MAX });
  opened.defer(() => queue.close());
  const worker = await startProcess("worker", { ...clusterEnvironment(url), WORKERS: String(workers) });
  opened.defer(async () => void await worker.end("SIGTERM"));
  await body(handle, queue);
}

/** Submits as the API does: a run of a module, or of the built-in strategy. @returns The record's id. */
async function submit(db: Db, queue: OpenQueue, ownerId: string, sha256?: string): Promise<string> {
  const runtime = sha256 === undefined
    ? {}
    : { runtime: { type: "wasm", sha256, minCandles: 1, lookbackCandles: 0 } as const };
  return await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const queuePosition = await nextQueuePosition(tx, ownerId, 100) ?? NaN;
    const { id } = await insertBacktest(tx, { ...newTenDaysBacktest(ownerId, runtime), queuePosition });
    await queue.enqueueBacktest(tx, id, ownerId, queuePosition);
    return id;
  });
}

const isRunning = eq(backtests.status, "running");

for (const workers of [1, 2]) {
  Deno.test(`a user's run waits for no endless module of others, and these go on afterwards (WORKERS=${workers})`, () =>
    withWorker(workers, async ({ db }, queue) => {
      for (const user of ["eve", "ann", "bob"]) await addUser(db, user);
      await archiveTenDays(db);
      await storeModule(db, { sha256: "endless", data: ENDLESS });
      const runAsBob = async () => (await untilEnded(db, await submit(db, queue, "bob"), "bob")).status;
      for (let i = 0; i < workers + 1; i++) await submit(db, queue, "eve", "endless");
      const untilRunning = (more: SQL) => until(async () => await db.$count(backtests, and(isRunning, more)) > 0);
      await until(async () => await db.$count(backtests, isRunning) === workers);
      expect(await runAsBob()).toBe("completed");
      expect(await db.$count(backtests, isRunning)).toBe(workers);

      // Now the place beside eve's runs is taken, too.
      const id = await submit(db, queue, "ann", "endless");
      await untilRunning(eq(backtests.ownerId, "ann"));
      expect(await runAsBob()).toBe("completed");
      // A run that made way begins again at no cost.
      await db.transaction(async (tx: Db) => {
        await cancelBacktest(tx, { id, ownerId: "ann" });
        await queue.dequeueBacktest(tx, id);
      });
      await untilRunning(gt(backtests.attempts, 1));
      expect(await db.$count(backtests, eq(backtests.status, "failed"))).toBe(0);
    }));
}

Deno.test("a registration does not wait for the checks of twelve users' endless modules", () =>
  withWorker(2, async ({ db }, queue) => {
    const ask = async (ownerId: string, data: Uint8Array) => {
      await addUser(db, ownerId);
      return await db.transaction(async (tx: Db) => {
        await lockUser(tx, ownerId);
        const queuePosition = await nextCheckPosition(tx, ownerId, 3) ?? NaN;
        const check = { ownerId, queuePosition, data, moduleUrl: null, parameters: {}, lookbackCandles: 0 };
        const id = await insertCheck(tx, check);
        await queue.enqueueModuleCheck(tx, id, ownerId, queuePosition);
        return id;
      });
    };
    for (let i = 0; i < 12; i++) await ask(`eve${i}`, ENDLESS);
    const id = await ask("bob", QUICK);
    expect(await until(() => readVerdict(db, id))).toEqual({ accepted: true });
    // None of those that were first has used up its five seconds.
    const others = await db.select({ verdict: moduleChecks.verdict }).from(moduleChecks);
    expect(others.filter(({ verdict }) => verdict !== null)).toHaveLength(1);
  }));
