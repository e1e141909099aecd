import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "../../../db/client.ts";
import { insertEvents, insertRun } from "../../../db/ingestion.ts";
import { insertCheck } from "../../../db/module_checks.ts";
import { storeModule } from "../../../db/modules.ts";
import { insertChunks } from "../../../db/result_chunks.ts";
import {
  backtests,
  ingestionEvents,
  ingestionRuns,
  moduleChecks,
  modules,
  resultChunks,
  session,
} from "../../../db/schema.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { openQueue } from "../../../workers/queue.ts";
import { addUser, newBacktest, newChunks } from "../../support/backtests.ts";
import { until } from "../../support/until.ts";
import { databaseSteps } from "../../support/database.ts";

const DAY_MS = 86_400_000;

/** A record from `daysAgo` days ago, which has ended on the same day or not at all; with trades, orders and equity where it has. */
async function addOld(db: Db, daysAgo: number, status: (typeof backtests.$inferSelect)["status"]): Promise<string> {
  const then = new Date(Date.now() - daysAgo * DAY_MS);
  const id = uuidv7({ msecs: then.getTime() });
  const hasEnded = status !== "queued" && status !== "running";
  const record = { ...newBacktest("ann"), id, status, createdAt: then, finishedAt: hasEnded ? then : null };
  await db.insert(backtests).values(record);
  if (status !== "completed") return id;
  await insertChunks(db, [{ backtestId: id, attempt: 0, chunks: await newChunks() }]);
  return id;
}

const idsOf = async (db: Db) => (await db.select({ id: backtests.id }).from(backtests)).map(({ id }) => id).sort();

databaseSteps("housekeeping", async (handle, step) => {
  const { db } = handle;
  await addUser(db, "ann");
  const jobs = await Jobs.open(handle, 60);
  /** Does the clock's hourly work. */
  const cleanUp = async (resultDaysMax: number | undefined) => {
    const queue = await openQueue({ handle, runSecondsMax: 60, resultDaysMax });
    await queue.work(1);
    const id = crypto.randomUUID();
    await db.transaction((tx: Db) => jobs.send(tx, QUEUES.housekeeping, id, {}));
    const isDone = sql`pgboss.job where id = ${id} and state = 'completed'`;
    await until(async () => await db.$count(isDone) > 0);
    await queue.close();
  };

  try {
    const kept = [
      await addOld(db, 29, "completed"),
      await addOld(db, 29, "failed"),
      await addOld(db, 400, "queued"),
      await addOld(db, 400, "running"),
    ];
    const old = [await addOld(db, 31, "failed"), await addOld(db, 31, "cancelled")];
    for (let i = 0; i < 230; i++) old.push(await addOld(db, 31 + i, "completed"));

    await step("without a limit no run is removed", async () => {
      await cleanUp(undefined);
      expect((await idsOf(db)).length).toBe(kept.length + old.length);
      expect(await jobs.listSchedules(QUEUES.housekeeping)).toEqual(new Map([["hourly", "17 * * * *"]]));
    });

    await step("a backtest that ended before the limit is removed with its results", async () => {
      await cleanUp(30);
      expect(await idsOf(db)).toEqual(kept.toSorted());
      const left = await db.select({ backtestId: resultChunks.backtestId }).from(resultChunks);
      expect(new Set(left.map(({ backtestId }) => backtestId))).toEqual(new Set([kept[0]]));
    });

    await step("sessions that have ended go, each of which would be looked at when their user signs in", async () => {
      const ends = (days: number) => new Date(Date.now() + days * DAY_MS);
      for (const [id, days] of [["ended", -0.1], ["lasts", 0.1]] as const) {
        await db.insert(session).values({ id, token: id, userId: "ann", expiresAt: ends(days) });
      }
      await cleanUp(undefined);
      expect((await db.select().from(session)).map(({ id }) => id)).toEqual(["lasts"]);
    });

    await step("a check of a module goes when nobody can wait for it any more, a younger one stays", async () => {
      const check = {
        ownerId: "ann",
        data: new Uint8Array(1),
        moduleUrl: null,
        parameters: {},
        lookbackCandles: 0,
        queuePosition: 0,
      };
      const [left, young] = [await insertCheck(db, check), await insertCheck(db, check)];
      const then = sql`now() - interval '61 minutes'`;
      await db.update(moduleChecks).set({ createdAt: then }).where(eq(moduleChecks.id, left));
      await cleanUp(undefined);
      expect((await db.select().from(moduleChecks)).map(({ id }) => id)).toEqual([young]);
    });

    await step("what was fetched for users' requests long ago goes, but for what revised candles", async () => {
      const add = async (trigger: "request" | "manual", daysAgo: number, type: "revised" | "range_ingested") => {
        const finishedAt = new Date(Date.now() - daysAgo * DAY_MS);
        const { id } = await insertRun(db, { trigger, status: "completed", finishedAt });
        await insertEvents(db, [{ runId: id, type }]);
        return id;
      };
      const gone = await add("request", 31, "range_ingested");
      const stays = [
        await add("request", 29, "range_ingested"),
        await add("request", 31, "revised"),
        await add("manual", 31, "range_ingested"),
      ];
      await cleanUp(undefined);
      expect((await db.select().from(ingestionRuns)).map(({ id }) => id).sort()).toEqual(stays.toSorted());
      expect((await db.select().from(ingestionEvents)).map(({ runId }) => runId)).not.toContain(gone);
    });

    await step("a module goes with the last record that needs it", async () => {
      for (const sha256 of ["kept", "gone"]) await storeModule(db, { sha256, data: new Uint8Array(1) });
      const run = async (daysAgo: number, sha256: string) => {
        const runtime = { type: "wasm", sha256, minCandles: 1, lookbackCandles: 0 } as const;
        const id = await addOld(db, daysAgo, "completed");
        await db.update(backtests).set({ runtime }).where(eq(backtests.id, id));
      };
      await run(29, "kept");
      await run(31, "kept");
      await run(31, "gone");
      await cleanUp(30);
      expect((await db.select().from(modules)).map(({ sha256 }) => sha256)).toEqual(["kept"]);
    });
  } finally {
    await jobs.close();
  }
});
