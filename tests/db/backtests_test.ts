import { expect } from "@std/expect";
import {
  backtestRecords,
  claimBacktests,
  insertBacktest,
  releaseBacktest,
  setProgress,
  storeResults,
} from "../../db/backtests.ts";
import { failBacktest } from "../../db/failed_backtests.ts";
import { readLog } from "../../db/backtest_logs.ts";
import { listBacktests } from "../../db/backtest_lists.ts";
import type { Db } from "../../db/client.ts";
import { readEquity } from "../../db/equity.ts";
import { listTrades } from "../../db/row_pages.ts";
import {
  addUser,
  newBacktest,
  newChunks,
  newResult,
  orderColumns,
  removeBacktest,
  tradeColumns,
} from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

const equity = { time: Float64Array.of(1, 2), equity: Float64Array.of(100, 101), position: Float64Array.of(0, 1) };
const partialEquity = { timestamp: "2024-01-05T00:00:00.000Z", equity: 101.5 };
const error = { code: "NO_DATA", message: "Cannot run" };

eachDatabaseSteps("backtests", async ({ db }, step) => {
  await addUser(db, "ann");
  await addUser(db, "bob");
  const chunks = await newChunks({ trades: tradeColumns(2), equity, orders: orderColumns(3) });
  const queue = async (ownerId = "ann", symbol = "DEMO") =>
    (await insertBacktest(db, newBacktest(ownerId, { symbol }))).id;
  const ann = (id: string) => backtestRecords.get(db, { id, ownerId: "ann" });
  const claim = async (id: string) => (await claimBacktests(db, [id]))[0] ?? null;
  const run = (id: string, attempt: number) => ({
    id,
    attempt,
    result: newResult({ run_key: id }),
    chunks,
  });
  const store = async (id: string, attempt: number) =>
    (await db.transaction((tx: Db) => storeResults(tx, [run(id, attempt)]))).has(id);

  await step("a new record is queued, untried and its owner's alone", async () => {
    const id = await queue();
    expect(await ann(id)).toMatchObject({ status: "queued", progress: 0, attempts: 0, error: null, result: null });
    expect(await backtestRecords.get(db, { id, ownerId: "bob" })).toBeNull();
  });

  await step("lists are newest first, filtered, and continue after a place", async () => {
    const ids = [await queue("bob", "A"), await queue("bob", "B"), await queue("bob", "A")];
    const list = async (more: { symbol?: string; after?: { value: null; id: string }; limit?: number }) =>
      (await listBacktests(db, { ownerId: "bob", limit: 10, ...more })).map(({ id }) => id);
    expect(await list({})).toEqual(ids.toReversed());
    expect(await list({ limit: 1 })).toEqual([ids[2]]);
    expect(await list({ after: { value: null, id: ids[2]! } })).toEqual([ids[1], ids[0]]);
    expect(await list({ symbol: "A" })).toEqual([ids[2], ids[0]]);
    expect(await listBacktests(db, { ownerId: "bob", status: "failed", limit: 10 })).toEqual([]);
    expect(await listBacktests(db, { ownerId: "bob", strategy: "Other", limit: 10 })).toEqual([]);
  });

  await step("a claim begins an attempt, and a second claim ends the first one's hold", async () => {
    const id = await queue();
    expect(await claim(id)).toMatchObject({ status: "running", attempts: 1 });
    expect(await setProgress(db, { id, attempt: 1, progress: 0.5, partialEquity })).toBe(true);
    expect(await ann(id)).toMatchObject({ progress: 0.5, partialEquity });
    expect(await claim(id)).toMatchObject({ status: "running", attempts: 2, progress: 0, partialEquity: null });
    expect(await setProgress(db, { id, attempt: 1, progress: 0.9, partialEquity })).toBe(false);
    expect(await failBacktest(db, { id, attempt: 1, error })).toBeNull();
    expect(await releaseBacktest(db, { id, attempt: 1 })).toBe(false);
    expect(await ann(id)).toMatchObject({ status: "running", attempts: 2, progress: 0 });
  });

  await step("a late store by an earlier attempt changes nothing, and a second one neither", async () => {
    const id = await queue();
    await claim(id);
    await claim(id);
    expect(await store(id, 1)).toBe(false);
    expect(await listTrades(db, { backtestId: id, ownerId: "ann", after: 0, limit: 9 })).toEqual([]);
    expect(await store(id, 2)).toBe(true);
    expect(await store(id, 2)).toBe(false);
    expect(await ann(id)).toMatchObject({ status: "completed", progress: 1, result: { run_key: id } });
    expect(await listTrades(db, { backtestId: id, ownerId: "ann", after: 0, limit: 9 })).toHaveLength(2);
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(equity);
    expect(await claim(id)).toBeNull();
  });

  await step("many are claimed and stored at once, and only those that are still held", async () => {
    const ids = [await queue(), await queue(), await queue()];
    await db.transaction((tx: Db) => backtestRecords.cancel(tx, { id: ids[1]!, ownerId: "ann" }));
    expect((await claimBacktests(db, ids)).map(({ id }) => id).sort()).toEqual([ids[0], ids[2]]);
    const stored = await db.transaction((tx: Db) => storeResults(tx, ids.map((id, i) => run(id, i === 2 ? 2 : 1))));
    expect([...stored]).toEqual([ids[0]]);
    expect((await ann(ids[0]!))?.result).toEqual(newResult({ run_key: ids[0]! }));
    const trades = await Promise.all(
      ids.map((backtestId) => listTrades(db, { backtestId, ownerId: "ann", after: 0, limit: 9 })),
    );
    expect(trades.map((list) => list.map(({ number }) => number))).toEqual([[1, 2], [], []]);
  });

  await step("a run that fails says why, and is not claimed again", async () => {
    const id = await queue();
    await claim(id);
    const log = ["one", "two"];
    expect(await failBacktest(db, { id, attempt: 1, error, log })).toEqual({ ownerId: "ann", sizeBytes: 14 });
    expect(await readLog(db, id)).toEqual(log);
    expect(await ann(id)).toMatchObject({ status: "failed", error, result: null });
    expect(await claim(id)).toBeNull();
    expect(await backtestRecords.fail(db, id, error)).toBe(false);
  });

  await step("a run that is given back is queued again, with its attempts remembered", async () => {
    const id = await queue();
    await claim(id);
    expect(await releaseBacktest(db, { id, attempt: 1 })).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "queued", attempts: 1, startedAt: null });
    expect(await claim(id)).toMatchObject({ attempts: 2 });
    expect(await backtestRecords.fail(db, id, error)).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "failed", error });
  });

  await step("only the owner cancels, and what has ended stays as it is", async () => {
    const id = await queue();
    expect(await backtestRecords.cancel(db, { id, ownerId: "bob" })).toBe(false);
    await claim(id);
    expect(await backtestRecords.cancel(db, { id, ownerId: "ann" })).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "cancelled" });
    expect(await store(id, 1)).toBe(false);
    expect(await claim(id)).toBeNull();
    const failed = await queue();
    await backtestRecords.fail(db, failed, error);
    expect(await backtestRecords.cancel(db, { id: failed, ownerId: "ann" })).toBe(false);
    expect(await ann(failed)).toMatchObject({ status: "failed" });
  });

  await step("only the owner deletes, with all that belongs to the record", async () => {
    const id = await queue();
    await claim(id);
    await store(id, 1);
    expect(await removeBacktest(db, { id, ownerId: "bob" })).toBe(false);
    expect(await removeBacktest(db, { id, ownerId: "ann" })).toBe(true);
    expect(await ann(id)).toBeNull();
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toBeNull();
  });
});
