import { expect } from "@std/expect";
import { cancelBacktest, claimBacktests, insertBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { lockUser, nextTurn } from "../../db/quotas.ts";
import { addUser, newBacktest } from "../support/backtests.ts";
import { databaseTest } from "../support/database.ts";

async function submit(db: Db, ownerId: string): Promise<{ id: string; turn: number }> {
  return await db.transaction(async (tx: Db) => {
    await lockUser(tx, ownerId);
    const turn = await nextTurn(tx, ownerId, 100);
    if (turn === null) throw new Error(`${ownerId} has 100 waiting`);
    const { id } = await insertBacktest(tx, { ...newBacktest(ownerId), turn });
    return { id, turn };
  });
}

databaseTest("users take turns: who comes late is not behind all that others have waiting", async ({ db }) => {
  for (const id of ["ann", "bob"]) await addUser(db, id);
  const ann = [await submit(db, "ann"), await submit(db, "ann"), await submit(db, "ann"), await submit(db, "ann")];
  expect(ann.map(({ turn }) => turn)).toEqual([0, 1, 2, 3]);
  // Ann's first two run; her third is the first that waits, and Bob's first has its turn.
  await claimBacktests(db, ann.slice(0, 2).map(({ id }) => id));
  expect([(await submit(db, "bob")).turn, (await submit(db, "bob")).turn]).toEqual([2, 3]);
  // Her own stay in order.
  expect((await submit(db, "ann")).turn).toBe(4);
  expect([await nextTurn(db, "ann", 5), await nextTurn(db, "ann", 6)]).toEqual([null, 5]);
  expect([await nextTurn(db, "bob", 2), await nextTurn(db, "bob", 3)]).toEqual([null, 4]);
  // Of turns 0 to 4, those between may have ended: then they are counted.
  await cancelBacktest(db, { id: ann[1]!.id, ownerId: "ann" });
  expect([await nextTurn(db, "ann", 4), await nextTurn(db, "ann", 5)]).toEqual([null, 5]);
});

databaseTest("submissions at the same time get a turn each", async ({ db }) => {
  await addUser(db, "ann");
  const turns = await Promise.all(Array.from({ length: 20 }, () => submit(db, "ann")));
  expect(turns.map(({ turn }) => turn).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
});
