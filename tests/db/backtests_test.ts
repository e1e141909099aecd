import { expect } from "@std/expect";
import {
  abandonBacktest,
  cancelBacktest,
  claimBacktest,
  deleteBacktest,
  failBacktest,
  getBacktest,
  insertBacktest,
  listBacktests,
  releaseBacktest,
  setProgress,
  storeResult,
} from "../../db/backtests.ts";
import { readEquity } from "../../db/equity.ts";
import { listTrades } from "../../db/trades.ts";
import { addUser, databaseSteps, newBacktest, tradeColumns } from "../support/backtests.ts";

const equity = { time: Float64Array.of(1, 2), equity: Float64Array.of(100, 101), position: Float64Array.of(0, 1) };
const error = { code: "NO_DATA", message: "Cannot run" };

databaseSteps("backtests", async ({ db }, step) => {
  await addUser(db, "ann");
  await addUser(db, "bob");
  const queue = async (ownerId = "ann", symbol = "DEMO") =>
    (await insertBacktest(db, newBacktest(ownerId, { symbol }))).id;
  const ann = (id: string) => getBacktest(db, { id, ownerId: "ann" });
  const store = (id: string, attempt: number) =>
    db.transaction((tx) => storeResult(tx, { id, attempt, result: { run_key: "k" }, trades: tradeColumns(2), equity }));

  await step("a new record is queued, untried and its owner's alone", async () => {
    const id = await queue();
    expect(await ann(id)).toMatchObject({ status: "queued", progress: 0, attempts: 0, error: null, result: null });
    expect(await getBacktest(db, { id, ownerId: "bob" })).toBeNull();
  });

  await step("lists are newest first, filtered, and continue before an id", async () => {
    const ids = [await queue("bob", "A"), await queue("bob", "B"), await queue("bob", "A")];
    const list = async (more: { symbol?: string; before?: string | undefined; limit?: number }) =>
      (await listBacktests(db, { ownerId: "bob", limit: 10, ...more })).map(({ id }) => id);
    expect(await list({})).toEqual(ids.toReversed());
    expect(await list({ limit: 1 })).toEqual([ids[2]]);
    expect(await list({ before: ids[2] })).toEqual([ids[1], ids[0]]);
    expect(await list({ symbol: "A" })).toEqual([ids[2], ids[0]]);
    expect(await listBacktests(db, { ownerId: "bob", status: "failed", limit: 10 })).toEqual([]);
    expect(await listBacktests(db, { ownerId: "bob", strategy: "Other", limit: 10 })).toEqual([]);
  });

  await step("a claim begins an attempt, and a second claim ends the first one's hold", async () => {
    const id = await queue();
    expect(await claimBacktest(db, id)).toMatchObject({ status: "running", attempts: 1 });
    expect(await setProgress(db, { id, attempt: 1, progress: 0.5 })).toBe(true);
    expect(await claimBacktest(db, id)).toMatchObject({ status: "running", attempts: 2, progress: 0 });
    expect(await setProgress(db, { id, attempt: 1, progress: 0.9 })).toBe(false);
    expect(await failBacktest(db, { id, attempt: 1, error })).toBe(false);
    expect(await releaseBacktest(db, { id, attempt: 1 })).toBe(false);
    expect(await ann(id)).toMatchObject({ status: "running", attempts: 2, progress: 0 });
  });

  await step("a late store by an earlier attempt changes nothing, and a second one neither", async () => {
    const id = await queue();
    await claimBacktest(db, id);
    await claimBacktest(db, id);
    expect(await store(id, 1)).toBe(false);
    expect(await listTrades(db, { backtestId: id, ownerId: "ann", after: 0, limit: 9 })).toEqual([]);
    expect(await store(id, 2)).toBe(true);
    expect(await store(id, 2)).toBe(false);
    expect(await ann(id)).toMatchObject({ status: "completed", progress: 1, result: { run_key: "k" } });
    expect(await listTrades(db, { backtestId: id, ownerId: "ann", after: 0, limit: 9 })).toHaveLength(2);
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(equity);
    expect(await claimBacktest(db, id)).toBeNull();
  });

  await step("a run that fails says why, and is not claimed again", async () => {
    const id = await queue();
    await claimBacktest(db, id);
    expect(await failBacktest(db, { id, attempt: 1, error })).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "failed", error, result: null });
    expect(await claimBacktest(db, id)).toBeNull();
    expect(await abandonBacktest(db, id, error)).toBe(false);
  });

  await step("a run that is given back is queued again, with its attempts remembered", async () => {
    const id = await queue();
    await claimBacktest(db, id);
    expect(await releaseBacktest(db, { id, attempt: 1 })).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "queued", attempts: 1, startedAt: null });
    expect(await claimBacktest(db, id)).toMatchObject({ attempts: 2 });
    expect(await abandonBacktest(db, id, error)).toBe(true);
    expect(await ann(id)).toMatchObject({ status: "failed", error });
  });

  await step("only the owner cancels, and what has ended stays as it is", async () => {
    const id = await queue();
    expect(await cancelBacktest(db, { id, ownerId: "bob" })).toBeNull();
    await claimBacktest(db, id);
    expect(await cancelBacktest(db, { id, ownerId: "ann" })).toMatchObject({ status: "cancelled" });
    expect(await store(id, 1)).toBe(false);
    expect(await claimBacktest(db, id)).toBeNull();
    const failed = await queue();
    await abandonBacktest(db, failed, error);
    expect(await cancelBacktest(db, { id: failed, ownerId: "ann" })).toMatchObject({ status: "failed" });
  });

  await step("only the owner deletes, with all that belongs to the record", async () => {
    const id = await queue();
    await claimBacktest(db, id);
    await store(id, 1);
    expect(await deleteBacktest(db, { id, ownerId: "bob" })).toBe(false);
    expect(await deleteBacktest(db, { id, ownerId: "ann" })).toBe(true);
    expect(await ann(id)).toBeNull();
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toBeNull();
  });
});
