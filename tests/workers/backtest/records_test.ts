import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import { deleteBacktest, getBacktest, insertBacktest } from "../../../db/backtests.ts";
import type { Db } from "../../../db/client.ts";
import { backtests, backtestSizes } from "../../../db/schema.ts";
import { BacktestRecords } from "../../../workers/backtest/records.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { addUser, newBacktest, newResult, orderColumns, tradeColumns } from "../../support/backtests.ts";
import { openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

Deno.test("runs that end together do not wait for one that is deleted while it waits for them", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  const { db } = handle;
  await addUser(db, "ann");
  const jobs = await Jobs.open(handle, 60);
  const records = new BacktestRecords(db, jobs, 1e9);
  const begin = async () => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await records.claim(id);
    return { id, retryCount: 0, data: {}, isSuspect: false };
  };
  const [done, failed] = [await begin(), await begin()];
  const equity = { time: Float64Array.of(1), equity: Float64Array.of(100), position: Float64Array.of(0) };
  const run = { result: newResult(), trades: tradeColumns(1), equity, orders: orderColumns(1) };
  const isWaiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let settled;
  try {
    await db.transaction(async (tx: Db) => {
      await tx.select().from(backtests).where(eq(backtests.id, failed.id)).for("update");
      settled = Promise.all([
        records.settle(done, 1, { type: "completed", run }),
        records.settle(failed, 1, { type: "failed", error: { code: "NO_DATA", message: "Cannot run" } }),
      ]);
      await until(async () => (await db.select({ one: sql`1` }).from(sql`(${isWaiting}) as waiting`)).length > 0);
      // Refused at once where they have it already; to wait for it would be a deadlock.
      await tx.select().from(backtestSizes).for("update", { noWait: true });
      await deleteBacktest(tx, { id: failed.id, ownerId: "ann" });
    });
  } finally {
    await settled;
    await jobs.close();
  }
  const kept = await getBacktest(db, { id: done.id, ownerId: "ann" });
  expect(kept?.status).toBe("completed");
  expect(await db.select().from(backtestSizes)).toEqual([{ ownerId: "ann", bytes: kept?.sizeBytes }]);
  expect(await getBacktest(db, { id: failed.id, ownerId: "ann" })).toBeNull();
  await handle.close();
});
