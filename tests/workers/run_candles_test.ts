import { expect } from "@std/expect";
import { type Backtest, getBacktest, insertBacktest, type NewBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { openQueue } from "../../workers/queue.ts";
import { addUser, archiveHours, newTenDaysBacktest } from "../support/backtests.ts";
import { databaseTest } from "../support/database.ts";

databaseTest("a worker counts the candles that a run has and those that it replays", async (handle) => {
  const { db } = handle;
  await addUser(db, "ann");
  await archiveHours(db);
  // The ten days of HOURS have 240 hours.
  const queue = await openQueue({ handle, runSecondsMax: 60, runCandlesMax: 239 });
  const run = async (parameters: NewBacktest["parameters"]): Promise<Backtest> => {
    const more = { symbol: "HOURS", parameters: { ...newTenDaysBacktest("ann").parameters, ...parameters } };
    const { id } = await insertBacktest(db, newTenDaysBacktest("ann", more));
    const ended = Promise.withResolvers<Backtest>();
    const look = async () => {
      const record = await getBacktest(db, { id, ownerId: "ann" });
      if (record !== null && record.finishedAt !== null) ended.resolve(record);
    };
    const unwatch = await queue.watchBacktest(id, () => void look());
    await db.transaction((tx: Db) => queue.enqueueBacktest(tx, id, "ann"));
    const record = await ended.promise;
    unwatch();
    return record;
  };
  try {
    await queue.work(1);
    expect(await run({ timeframe: "1d" })).toMatchObject({ status: "completed" });
    const refused = { status: "failed", error: { code: "RANGE_TOO_LARGE" } };
    expect(await run({ timeframe: "1h" })).toMatchObject(refused);
    const magnified = await run({ timeframe: "1d", execution: { bothTouched: "magnify" } });
    expect(magnified).toMatchObject(refused);
    expect(magnified.error?.message).toBe(
      "Cannot run over 240 1h candles: 239 are the most; shorten the range",
    );
  } finally {
    await queue.close();
  }
});
