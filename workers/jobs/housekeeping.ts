import { getLogger } from "@logtape/logtape";
import type { Db } from "../../db/client.ts";
import { removeOldRequests } from "../../db/ingestion.ts";
import { deleteOldChecks } from "../../db/module_checks.ts";
import { removeUnusedModules } from "../../db/modules.ts";
import { sweepObjects } from "../../db/object_sweep.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import { RUN_RECORDS } from "../../db/run_records.ts";
import { removeExpiredRequests } from "../../db/served_requests.ts";
import { removeExpiredAgentCodes } from "../../db/agent_codes.ts";
import { removeExpiredShares } from "../../db/shares.ts";
import { removeExpiredDeviceCodes, removeExpiredTokens } from "../../db/tokens.ts";
import { removeUnusedCandles } from "../../db/result_candles.ts";
import { removeEndedSessions } from "../../db/users.ts";
import type { Jobs, TakenJob } from "./jobs.ts";
import { QUEUES } from "./queues.ts";
import { DAY_MS } from "../../market/timeframes.ts";

const log = getLogger(["hindcast", "housekeeping"]);

// No request waits so long for a verdict: an older check belongs to a dead process.
const CHECK_KEPT_MS = 3_600_000;
// What was fetched for users' requests is of interest to admins for a while.
const REQUEST_KEPT_MS = 30 * DAY_MS;
// Hourly, at a minute that few other schedules use.
const CRON = "17 * * * *";
// Each batch is one transaction: small ones hold their locks briefly.
const BATCH = 100;

/** The services of a clean-up. */
interface HouseServices {
  readonly db: Db;
  readonly jobs: Jobs;
  /** How long results are kept; undefined: for ever. */
  readonly resultDaysMax: number | undefined;
}

/** Schedules a clean-up every hour, one for all processes. */
export async function scheduleHousekeeping(jobs: Jobs): Promise<void> {
  await jobs.schedule(QUEUES.housekeeping, "hourly", { cron: CRON, data: {} });
}

/**
 * Removes old data: ended backtests and optimizations with their results if a limit is set, module checks without a waiting request, ended
 * sessions, tokens that expired a month ago, sign-ins that no browser confirmed, expired links, fetches of candles for users' requests of more than 30 days
 * ago, requests to programs that nobody waits for, unused modules, candles that no result needs, and objects that no row names. Queued
 * and running backtests stay at any age.
 *
 * @param signal Ends it after the current batch; the next hour continues.
 */
export async function cleanUp({ db, jobs, resultDaysMax }: HouseServices, job: TakenJob, signal: AbortSignal) {
  if (resultDaysMax !== undefined) {
    const before = new Date(Date.now() - resultDaysMax * DAY_MS);
    // Monte Carlo simulations and stress tests go with their backtests.
    for (const records of [RUN_RECORDS.backtest, RUN_RECORDS.optimization]) {
      const count = await inBatches(signal, () => records.removeEnded(db, before, BATCH));
      const { noun } = RUN_KINDS[records.kind];
      if (count > 0) log.info("Removed {count} {noun}s that ended before {before}", { count, noun, before });
    }
  }
  await deleteOldChecks(db, new Date(Date.now() - CHECK_KEPT_MS));
  await removeEndedSessions(db);
  await removeExpiredTokens(db);
  await removeExpiredDeviceCodes(db);
  await removeExpiredShares(db);
  await removeExpiredAgentCodes(db);
  await removeExpiredRequests(db);
  await inBatches(signal, () => removeOldRequests(db, new Date(Date.now() - REQUEST_KEPT_MS), BATCH));
  const modules = await inBatches(signal, () => db.transaction((tx: Db) => removeUnusedModules(tx, BATCH)));
  if (modules > 0) log.info("Removed {count} unused modules", { count: modules });
  const candles = await inBatches(signal, () => db.transaction((tx: Db) => removeUnusedCandles(tx, BATCH)));
  if (candles > 0) log.info("Removed {count} unused pieces of results' candles", { count: candles });
  const objects = await sweepObjects(db, signal);
  if (objects > 0) log.info("Removed {count} objects that no row names", { count: objects });
  await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.housekeeping, [job]));
}

/** Removes batches until one is not full. @returns How many were removed in all. */
async function inBatches(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  let count = 0;
  for (let removed = BATCH; removed === BATCH && !signal.aborted; count += removed) removed = await remove();
  return count;
}
