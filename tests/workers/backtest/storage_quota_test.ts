import { expect } from "@std/expect";
import { backtestRecords, claimBacktests, type NewBacktest } from "../../../db/backtests.ts";
import type { Db } from "../../../db/client.ts";
import { measureBacktests } from "../../../db/backtest_sizes.ts";
import { changeQuotas } from "../../../db/users.ts";
import { backtests } from "../../../db/schema.ts";
import { openQueue } from "../../../workers/queue.ts";
import {
  addUser,
  archiveTenDays,
  newTenDaysBacktest,
  removeBacktest,
  submitBacktest,
  untilEnded,
} from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";

databaseTest(
  "a run fails when its owner is over the storage quota as it begins, even if it was submitted before",
  async (handle) => {
    const { db } = handle;
    for (const id of ["ann", "bob"]) await addUser(db, id);
    await archiveTenDays(db);
    const large: NewBacktest["parameters"] = { ...newTenDaysBacktest("ann").parameters, note: "x".repeat(20_000) };
    const queue = await openQueue({ handle, runSecondsMax: 60, resultBytesMax: 30_000 });
    const submit = (ownerId: string, parameters = large) =>
      submitBacktest(db, queue, newTenDaysBacktest(ownerId, { parameters }));
    try {
      // Before any of them runs.
      const ids = [await submit("ann"), await submit("ann")];
      const bytes = await measureBacktests(db, "ann");
      expect([bytes > 40_000, bytes < 60_000]).toEqual([true, true]);
      const claimed = async () => {
        const [{ storedBytes, storedBytesMax } = Object()] = await claimBacktests(db, [ids[0]!], 30_000);
        return [storedBytes, storedBytesMax];
      };
      expect(await claimed()).toEqual([bytes, 30_000]);
      // Her own quota takes the place of the setting's, whichever is higher.
      await changeQuotas(db, "ann", { resultBytesMax: bytes });
      expect(await claimed()).toEqual([bytes, bytes]);
      await changeQuotas(db, "ann", { resultBytesMax: 29_000 });
      const other = await submit("bob");
      await queue.work(1);
      for (const id of ids) {
        expect(await untilEnded(db, id)).toMatchObject({
          status: "failed",
          error: {
            code: "QUOTA_EXCEEDED",
            message: expect.stringContaining(`have ${bytes} bytes with their results, and may have 29000; delete`),
          },
        });
      }
      const done = await untilEnded(db, other, "bob");
      expect(done).toMatchObject({ status: "completed", error: null });
      // Result, curve, orders and trades count too.
      expect(done.sizeBytes).toBeGreaterThan(bytes / 2 + JSON.stringify(done.result).length);
      await removeBacktest(db, { id: ids[0]!, ownerId: "ann" });
      expect(await untilEnded(db, await submit("ann", newTenDaysBacktest("ann").parameters)))
        .toMatchObject({ status: "completed" });
      expect(await measureEach(db)).toEqual(await addUp(db));
      await backtestRecords.removeEnded(db, new Date(Date.now() + 60_000), 2);
      expect(await measureEach(db)).toEqual(await addUp(db));
      await backtestRecords.removeEnded(db, new Date(Date.now() + 60_000), 100);
      expect(await measureEach(db)).toEqual([0, 0]);
    } finally {
      await queue.close();
    }
  },
);

async function measureEach(db: Db): Promise<number[]> {
  return [await measureBacktests(db, "ann"), await measureBacktests(db, "bob")];
}

async function addUp(db: Db): Promise<number[]> {
  const rows = await db.select({ ownerId: backtests.ownerId, sizeBytes: backtests.sizeBytes }).from(backtests);
  return ["ann", "bob"].map((id) =>
    rows.filter(({ ownerId }) => ownerId === id).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  );
}
