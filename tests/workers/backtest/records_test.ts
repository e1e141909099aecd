import { expect } from "@std/expect";
import { eq, sql } from "drizzle-orm";
import { backtestRecords, insertBacktest } from "../../../db/backtests.ts";
import { Batcher } from "../../../db/batcher.ts";
import type { Db } from "../../../db/client.ts";
import { createPostgresDatabase } from "../../../db/postgres_session.ts";
import { PostgresClient } from "../../../db/postgres/postgres.ts";
import { listTrades } from "../../../db/row_pages.ts";
import { equityPart } from "../../../db/codec/result_parts.ts";
import { readEquity } from "../../../db/equity.ts";
import { removeUnusedCandles } from "../../../db/result_candles.ts";
import { encodeParts } from "../../../db/result_chunks.ts";
import { backtests, backtestSizes, resultCandles, resultChunks } from "../../../db/schema.ts";
import { BacktestRecords } from "../../../workers/backtest/records.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { addUser, newBacktest, newChunks, newResult, removeBacktest } from "../../support/backtests.ts";
import { openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/until.ts";

Deno.test("runs that end together do not deadlock with the deletion of one of them", async () => {
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
  const run = { result: newResult(), chunks: await newChunks() };
  const isWaiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let settled;
  try {
    await db.transaction(async (tx: Db) => {
      await tx.select().from(backtests).where(eq(backtests.id, failed.id)).for("update");
      settled = Promise.all([
        records.settle(done, 1, { type: "completed", ...run }),
        records.settle(failed, 1, { type: "failed", code: "NO_DATA", message: "Cannot run" }),
      ]);
      await until(async () => (await db.select({ one: sql`1` }).from(sql`(${isWaiting}) as waiting`)).length > 0);
      // Fails at once if the settlement holds this lock already: to wait for it would be a deadlock.
      await tx.select().from(backtestSizes).for("update", { noWait: true });
      await removeBacktest(tx, { id: failed.id, ownerId: "ann" });
    });
  } finally {
    await settled;
    await jobs.close();
  }
  const kept = await backtestRecords.get(db, { id: done.id, ownerId: "ann" });
  expect(kept?.status).toBe("completed");
  expect(await db.select().from(backtestSizes)).toEqual([{ ownerId: "ann", bytes: kept?.sizeBytes }]);
  expect(await backtestRecords.get(db, { id: failed.id, ownerId: "ann" })).toBeNull();
  await handle.close();
});

Deno.test("runs over the same candles store these once, also after housekeeping has removed them meanwhile", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  const { db } = handle;
  await addUser(db, "ann");
  const jobs = await Jobs.open(handle, 60);
  const records = new BacktestRecords(db, jobs, 1e9);
  const time = Float64Array.from({ length: 100 }, (_, i) => i * 60_000);
  const close = time.map((_, i) => (4_000_000 + i * 7_919 % 100_003) / 100);
  const settle = async (units: number) => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await records.claim(id);
    const position = time.map(() => units);
    const balances = { from: Int32Array.of(0), cash: Float64Array.of(1000), units: Float64Array.of(units) };
    const curve = { time, equity: close.map((price) => 1000 + units * price), position };
    const chunks = await encodeParts([equityPart(curve, { close, balances })]);
    await records.settle({ id, retryCount: 0, data: {}, isSuspect: false }, 1, {
      type: "completed",
      result: newResult(),
      chunks,
      sparkline: [],
    });
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(curve);
    return id;
  };
  const remove = () => db.transaction((tx: Db) => removeUnusedCandles(tx, 10));
  const ids = [await settle(1), await settle(2)];
  expect(await db.$count(resultCandles)).toBe(1);
  expect(await remove()).toBe(0);
  for (const id of ids) await removeBacktest(db, { id, ownerId: "ann" });
  expect(await remove()).toBe(1);
  await settle(3);
  expect(await db.$count(resultCandles)).toBe(1);
  await jobs.close();
  await handle.close();
});

Deno.test("results that end together take one round trip, and are whole or missing where `begin` fails", async () => {
  const handle = await openTestDatabase("PostgreSQL");
  const { connection } = handle;
  if (connection.kind !== "postgres") throw new Error("Cannot be but PostgreSQL");
  await addUser(handle.db, "ann");
  const client = await PostgresClient.connect(connection.url);
  const jobs = await Jobs.open(handle, 60);
  const begin = async () => {
    const { id } = await insertBacktest(handle.db, newBacktest("ann"));
    await jobs.send(handle.db, "backtests", id, {});
    return id;
  };
  const chunks = await newChunks();
  const settleAll = async (records: BacktestRecords) => {
    const taken = await jobs.take("backtests", 9);
    for (const { id } of taken) await records.claim(id);
    return await Promise.allSettled(
      taken.map((job) => records.settle(job, 1, { type: "completed", result: newResult(), chunks, log: ["a", "b"] })),
    );
  };
  const statusOf = async (id: string) => (await backtestRecords.get(handle.db, { id, ownerId: "ann" }))?.status;
  const countTrades = async (id: string) =>
    (await listTrades(handle.db, { backtestId: id, ownerId: "ann", after: 0, limit: 9 })).length;
  const statusesOf = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => {
      const [before, trades, status] = [await statusOf(id), await countTrades(id), await statusOf(id)];
      return [status, before === status ? trades : await countTrades(id)];
    }));
  const trips: string[][] = [];
  let pending = 0;
  const query = client.query.bind(client);
  client.query = (text, values, shape) => {
    if (pending++ === 0) trips.push([]);
    trips.at(-1)?.push(text.trim().split(/[\s(]+/).slice(0, 3).join(" "));
    return query(text, values, shape).finally(() => pending--);
  };
  const records = new BacktestRecords(createPostgresDatabase(client), jobs, 1e9);
  const first = [await begin(), await begin()];
  await settleAll(records);
  expect(await statusesOf(first)).toEqual([["completed", 1], ["completed", 1]]);
  expect(trips.filter((trip) => trip.includes("commit"))).toEqual([[
    "begin",
    "with done as",
    "insert into backtest_logs",
    "insert into backtest_logs",
    "WITH results AS",
    "commit",
  ]]);

  const second = [await begin(), await begin()];
  client.query = (text, values, shape) => query(text === "begin" ? "begin ?" : text, values, shape);
  const ended = await settleAll(records);
  expect(ended.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  // The server executes the statements behind it alone, in its own time: with the record came its trades.
  for (const each of await statusesOf(second)) expect([["completed", 1], ["running", 0]]).toContainEqual(each);
  await client.close();
  await jobs.close();
  await handle.close();
});

Deno.test("others use an embedded database between the chunks of a large result", async () => {
  const handle = await openTestDatabase("PGlite");
  const { db } = handle;
  await addUser(db, "ann");
  const jobs = await Jobs.open(handle, 60);
  const records = new BacktestRecords(db, jobs, 1e9);
  const { id } = await insertBacktest(db, newBacktest("ann"));
  await records.claim(id);
  // Nothing makes random numbers smaller.
  const random = () => Float64Array.from({ length: 400_000 }, () => Math.random());
  const equity = { time: random(), equity: random(), position: random() };
  const chunks = await newChunks({ equity });
  const job = { id, retryCount: 0, data: {}, isSuspect: false };
  const settled = records.settle(job, 1, { type: "completed", result: newResult(), chunks });
  const counts = new Set<number>();
  while ((await backtestRecords.get(db, { id, ownerId: "ann" }))?.status !== "completed") {
    counts.add(await db.$count(resultChunks));
    // As a request comes: from outside of the code that stores.
    await new Promise((resume) => setTimeout(resume, 0));
  }
  await settled;
  expect(await db.$count(resultChunks)).toBe(chunks.length);
  // Ten transactions, and most states between them were seen.
  expect(counts.size).toBeGreaterThan(3);
  await jobs.close();
  await handle.close();
});

/** A batcher that doubles numbers and refuses batches with a 13, and the batches that it got. */
function doubler(itemsMax: number) {
  const batches: number[][] = [];
  const batcher = new Batcher<number, number>((items) => {
    batches.push([...items]);
    if (items.includes(13)) return Promise.reject(new Error("13"));
    return Promise.resolve(items.map((item) => 2 * item));
  }, itemsMax);
  return { batches, batcher };
}

Deno.test("simultaneous calls are done together, each with its own answer", async () => {
  const { batches, batcher } = doubler(10);
  expect(await Promise.all([1, 2, 3].map((item) => batcher.add(item)))).toEqual([2, 4, 6]);
  expect(await batcher.add(4)).toBe(8);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

Deno.test("a batch has no more items than its limit", async () => {
  const { batches, batcher } = doubler(2);
  await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
  expect(batches).toEqual([[1, 2], [3]]);
});

Deno.test("one bad item fails alone", async () => {
  const { batches, batcher } = doubler(10);
  const answers = await Promise.allSettled([1, 13, 3].map((item) => batcher.add(item)));
  expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([[1, 13, 3], [1], [13], [3]]);
});
