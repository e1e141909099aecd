import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { insertCheck, nextCheckPosition, storeVerdict } from "../../../db/module_checks.ts";
import { moduleChecks } from "../../../db/schema.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { openQueue } from "../../../workers/queue.ts";
import { addUser } from "../../support/backtests.ts";
import { databaseSteps } from "../../support/database.ts";

const WAITING_MAX = 3;

databaseSteps("checks of modules", async (handle, step) => {
  const { db } = handle;
  const queue = await openQueue({ handle, runSecondsMax: 60 });
  const jobs = await Jobs.open(handle, 60);
  /** Asks as the API does. */
  const ask = async (ownerId: string) =>
    await db.transaction(async (tx: Db) => {
      const queuePosition = await nextCheckPosition(tx, ownerId, WAITING_MAX);
      if (queuePosition === null) return null;
      const check = {
        ownerId,
        queuePosition,
        data: new Uint8Array(1),
        moduleUrl: null,
        parameters: {},
        lookbackCandles: 0,
      };
      const id = await insertCheck(tx, check);
      await queue.enqueueModuleCheck(tx, id, ownerId, queuePosition);
      return id;
    });
  const take = async () => (await jobs.take(QUEUES.checks, 1))[0]?.id;
  try {
    await addUser(db, "ann");
    await addUser(db, "bob");

    await step("are served in turn between users, each user's own in their order", async () => {
      const anns = [await ask("ann"), await ask("ann"), await ask("ann")];
      const bobs = [await ask("bob"), await ask("bob")];
      const taken = [await take(), await take(), await take(), await take(), await take()];
      expect(taken).toEqual([anns[0], bobs[0], anns[1], bobs[1], anns[2]]);
    });

    await step("of one user are so many at a time, until there is a verdict or nobody waits for one", async () => {
      expect(await ask("ann")).toBe(null);
      const [first] = await db.select().from(moduleChecks).where(eq(moduleChecks.ownerId, "ann"));
      await storeVerdict(db, first!.id, { accepted: true }, null);
      expect(await ask("ann")).not.toBe(null);
      expect(await ask("ann")).toBe(null);
      await db.update(moduleChecks).set({ createdAt: sql`now() - interval '61 seconds'` });
      expect(await ask("ann")).not.toBe(null);
    });
  } finally {
    await jobs.close();
    await queue.close();
  }
});
