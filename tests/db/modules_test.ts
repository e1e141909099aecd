import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { backtestRecords, insertBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { holdModule, readModule, removeUnusedModules, storeModule } from "../../db/modules.ts";
import { modules } from "../../db/schema.ts";
import { deleteStrategy, insertStrategy } from "../../db/strategies.ts";
import { addUser, newBacktest, removeBacktest } from "../support/backtests.ts";
import { databaseTest, openTestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

const BYTES = Uint8Array.of(0, 97, 115, 109);

const remove = (db: Db, countMax = 100) => db.transaction((tx: Db) => removeUnusedModules(tx, countMax));

const sumsOf = async (db: Db) => (await db.select({ sha256: modules.sha256 }).from(modules)).map((row) => row.sha256);

/** Writes what a registration writes in its transaction. */
async function register(tx: Db, slug: string, sha256: string): Promise<void> {
  await storeModule(tx, { sha256, data: BYTES });
  const texts = { name: slug, slug, description: "", language: "c", defaultFrequency: "DAILY" };
  const strategy = { ...texts, runtimeType: "wasm", minCandles: 1, lookbackCandles: 0, isPublic: false } as const;
  const version = { version: "1", runtimeConfig: { type: "wasm" }, sha256, sizeBytes: BYTES.byteLength };
  await insertStrategy(tx, { ...strategy, ownerId: "ann", defaultConfig: {}, parameterSchema: {} }, version);
}

/** Writes the record that a submission writes in its transaction. @returns Its id. */
async function submit(tx: Db, sha256: string): Promise<string> {
  const runtime = { type: "wasm", sha256, minCandles: 1, lookbackCandles: 0 } as const;
  return (await insertBacktest(tx, newBacktest("ann", { runtime }))).id;
}

databaseTest("a module stays while a version or a record needs it, and is removed when none does", async ({ db }) => {
  await addUser(db, "ann");
  await db.transaction((tx: Db) => register(tx, "cross", "a"));
  for (const sha256 of ["b", "c", "d", "e"]) await storeModule(db, { sha256, data: BYTES });
  const ids = [await submit(db, "a"), await submit(db, "b"), await submit(db, "c")];
  // A record that has ended needs its module as well: it says what was run.
  await backtestRecords.cancel(db, { id: ids[2]!, ownerId: "ann" });
  expect([await remove(db, 1), await remove(db), await remove(db)]).toEqual([1, 1, 0]);
  expect((await sumsOf(db)).toSorted()).toEqual(["a", "b", "c"]);
  for (const id of ids) await removeBacktest(db, { id, ownerId: "ann" });
  expect(await remove(db)).toBe(2);
  expect(await readModule(db, "a")).toEqual(BYTES);
  await deleteStrategy(db, { slug: "cross", ownerId: "ann" });
  expect(await remove(db)).toBe(1);
  expect(await readModule(db, "a")).toBe(null);
});

/** A transaction that stands still when it has done its work, until it is told to commit. */
async function standingStill<Done>(db: Db, work: (tx: Db) => Promise<Done>) {
  const worked = Promise.withResolvers<Done>();
  const goOn = Promise.withResolvers<void>();
  const committed = db.transaction(async (tx: Db) => {
    worked.resolve(await work(tx));
    await goOn.promise;
  });
  const commit = async () => {
    goOn.resolve();
    await committed;
  };
  return { done: await Promise.race([worked.promise, committed.then(() => worked.promise)]), commit };
}

/** Waits until a statement waits for another transaction. */
async function untilOneWaits(db: Db): Promise<void> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await until(async () => await db.$count(sql`(${waiting})`) > 0);
}

Deno.test("a module that is registered or submitted just when it would be removed is there afterwards", async (t) => {
  const handle = await openTestDatabase("PostgreSQL");
  const { db } = handle;
  await addUser(db, "ann");

  await t.step("a store that comes first keeps the module from being removed", async () => {
    await storeModule(db, { sha256: "a", data: BYTES });
    const registering = await standingStill(db, (tx) => register(tx, "first", "a"));
    expect(await remove(db)).toBe(0);
    await registering.commit();
    expect(await remove(db)).toBe(0);
    expect(await readModule(db, "a")).toEqual(BYTES);
  });

  await t.step("a store during the removal writes the module anew", async () => {
    await storeModule(db, { sha256: "b", data: BYTES });
    const removing = await standingStill(db, (tx) => removeUnusedModules(tx, 100));
    expect(removing.done).toBe(1);
    const registered = db.transaction((tx: Db) => register(tx, "second", "b"));
    await untilOneWaits(db);
    await removing.commit();
    await registered;
    expect(await readModule(db, "b")).toEqual(BYTES);
  });

  await t.step("a submission that comes first keeps the module from being removed with its strategy", async () => {
    const submitting = await standingStill(db, async (tx) => [await holdModule(tx, "b"), await submit(tx, "b")]);
    expect(submitting.done[0]).toBe(true);
    await deleteStrategy(db, { slug: "second", ownerId: "ann" });
    expect(await remove(db)).toBe(0);
    await submitting.commit();
    expect(await remove(db)).toBe(0);
    expect(await readModule(db, "b")).toEqual(BYTES);
  });

  await t.step("a submission during the removal is refused, because the module is gone", async () => {
    await deleteStrategy(db, { slug: "first", ownerId: "ann" });
    const removing = await standingStill(db, (tx) => removeUnusedModules(tx, 100));
    const holding = db.transaction((tx: Db) => holdModule(tx, "a"));
    await untilOneWaits(db);
    await removing.commit();
    expect(await holding).toBe(false);
  });
  await handle.close();
});

Deno.test("registrations, submissions and removals in any order leave no record without its module", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  const { db } = handle;
  await addUser(db, "ann");
  // Among so many a look takes a while, in which others come and go.
  await db.transaction((tx: Db) => register(tx, "many", "0"));
  await db.execute(sql`insert into modules (sha256, data) select i::text, '' from generate_series(1, 5000) as i`);
  await db.execute(sql`
    insert into strategy_versions (strategy_id, version, runtime_config, sha256)
    select id, i::text, '{}', i::text from strategies, generate_series(2, 5000) as i`);
  await submit(db, "1");
  let isOver = false;
  let removed = 0;
  const removing = (async () => {
    while (!isOver) removed += await remove(db);
  })();
  const registrant = async (slug: string) => {
    for (let i = 0; i < 150; i++) {
      await db.transaction((tx: Db) => register(tx, slug, "a"));
      expect(await readModule(db, "a")).toEqual(BYTES);
      await deleteStrategy(db, { slug, ownerId: "ann" });
    }
  };
  const submitter = async () => {
    for (let i = 0; i < 300; i++) {
      const id = await db.transaction(async (tx: Db) => await holdModule(tx, "a") ? await submit(tx, "a") : null);
      if (id === null) continue;
      expect(await readModule(db, "a")).toEqual(BYTES);
      await removeBacktest(db, { id, ownerId: "ann" });
    }
  };
  await Promise.all([registrant("one"), registrant("two"), submitter()]);
  isOver = true;
  await removing;
  expect(removed).toBeGreaterThan(0);
  await handle.close();
});
