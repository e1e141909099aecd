import { expect } from "@std/expect";
import { backtestRecords, claimBacktests, insertBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { lockUser, readUsage } from "../../db/quotas.ts";
import { addUser, newBacktest } from "../support/backtests.ts";
import { databaseTest } from "../support/database.ts";

async function submit(db: Db, ownerId: string): Promise<{ id: string; queuePosition: number }> {
  return await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const { queuePosition } = await readUsage(tx, ownerId, 100);
    if (queuePosition === null) throw new Error(`${ownerId} has 100 waiting`);
    const { id } = await insertBacktest(tx, { ...newBacktest(ownerId), queuePosition });
    return { id, queuePosition };
  });
}

databaseTest(
  "users are served in turn: a late one does not wait for everything that others have queued",
  async ({ db }) => {
    const positionsOf = (id: string, ...most: number[]) =>
      Promise.all(most.map(async (unendedMax) => (await readUsage(db, id, unendedMax)).queuePosition));
    for (const id of ["ann", "bob"]) await addUser(db, id);
    const ann = [await submit(db, "ann"), await submit(db, "ann"), await submit(db, "ann"), await submit(db, "ann")];
    expect(ann.map(({ queuePosition }) => queuePosition)).toEqual([0, 1, 2, 3]);
    // Ann's first two run. Her third is the first that waits, so Bob begins at its position.
    await claimBacktests(db, ann.slice(0, 2).map(({ id }) => id));
    expect([(await submit(db, "bob")).queuePosition, (await submit(db, "bob")).queuePosition]).toEqual([2, 3]);
    // Her own stay in order.
    expect((await submit(db, "ann")).queuePosition).toBe(4);
    expect(await positionsOf("ann", 5, 6)).toEqual([null, 5]);
    expect(await positionsOf("bob", 2, 3)).toEqual([null, 4]);
    // Backtests between positions 0 and 4 may have ended, so they are counted.
    await backtestRecords.cancel(db, { id: ann[1]!.id, ownerId: "ann" });
    expect(await positionsOf("ann", 4, 5)).toEqual([null, 5]);
  },
);

databaseTest("submissions at the same time get different queue positions", async ({ db }) => {
  await addUser(db, "ann");
  const submitted = await Promise.all(Array.from({ length: 20 }, () => submit(db, "ann")));
  expect(submitted.map(({ queuePosition }) => queuePosition).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, i) => i),
  );
});
