import { expect } from "@std/expect";
import type { Backtest, NewBacktest } from "../../../db/backtests.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { openQueue } from "../../../workers/queue.ts";
import { addUser, archiveHours, newTenDaysBacktest, submitBacktest, untilEnded } from "../../support/backtests.ts";
import { databaseTest } from "../../support/database.ts";

databaseTest("a worker counts the candles that a run has and those that it replays", async (handle) => {
  const { db } = handle;
  await addUser(db, "ann");
  await archiveHours(db);
  // The ten days of HOURS have 240 hours.
  const queue = await openQueue({ handle, runSecondsMax: 60, runCandlesMax: 239 });
  const run = async (parameters: NewBacktest["parameters"]): Promise<Backtest> => {
    const more = { symbol: "HOURS", parameters: { ...newTenDaysBacktest("ann").parameters, ...parameters } };
    return await untilEnded(db, await submitBacktest(db, queue, newTenDaysBacktest("ann", more)));
  };
  try {
    await queue.work(1);
    expect(await run({ timeframe: "1d" })).toMatchObject({ status: "completed" });
    const refused = { status: "failed", error: { code: "RANGE_TOO_LARGE" } };
    expect(await run({ timeframe: "1h" })).toMatchObject(refused);
    const magnified = await run({ timeframe: "1d", execution: resolveExecution({ bothTouched: "magnify" }, null) });
    expect(magnified).toMatchObject(refused);
    expect(magnified.error?.message).toBe(
      "Cannot run over 240 1h candles: at most 239 are allowed; shorten the range",
    );
  } finally {
    await queue.close();
  }
});
