import { getLogger } from "@logtape/logtape";
import { removeEndedBacktests } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { forgetSubmissions, SUBMISSION_KEPT_MS } from "../../db/idempotency.ts";
import { deleteOldChecks } from "../../db/module_checks.ts";
import { removeUnusedModules } from "../../db/modules.ts";
import { removeEndedSessions } from "../../db/users.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";

const log = getLogger(["hindcast", "housekeeping"]);

const DAY_MS = 86_400_000;
// Nobody waits for a verdict that long; a check that is older was left behind by a process that died.
const CHECK_KEPT_MS = 3_600_000;
// Every hour, aside from the minutes that everybody chooses.
const CRON = "17 * * * *";
// A transaction each, so that nobody waits long for what one holds.
const BATCH = 100;

/** What a clean-up is done with. */
export interface HouseServices {
  readonly db: Db;
  readonly jobs: Jobs;
  /** How long results are kept; undefined: for ever. */
  readonly resultDaysMax: number | undefined;
}

/** Lets the queue's clock start a clean-up every hour, one for all processes. */
export async function scheduleHousekeeping(jobs: Jobs): Promise<void> {
  await jobs.schedule(QUEUES.housekeeping, "hourly", { cron: CRON, data: {} });
}

/**
 * Removes what is too old: ended backtests with their trades, equity and orders where results are kept for so long only, the names of
 * submissions of which a retry comes no more, checks of modules whose asker is gone, and sessions that have ended; and modules that
 * nothing needs any more. What waits or runs stays, however old it is.
 *
 * @param signal Ends it after the batch that is under way; the next hour goes on.
 */
export async function cleanUp({ db, jobs, resultDaysMax }: HouseServices, job: TakenJob, signal: AbortSignal) {
  if (resultDaysMax !== undefined) {
    const before = new Date(Date.now() - resultDaysMax * DAY_MS);
    const count = await inBatches(signal, () => removeEndedBacktests(db, before, BATCH));
    if (count > 0) log.info("Removed {count} backtests that ended before {before}", { count, before });
  }
  await forgetSubmissions(db, new Date(Date.now() - SUBMISSION_KEPT_MS));
  await deleteOldChecks(db, new Date(Date.now() - CHECK_KEPT_MS));
  await removeEndedSessions(db);
  const modules = await inBatches(signal, () => db.transaction((tx: Db) => removeUnusedModules(tx, BATCH)));
  if (modules > 0) log.info("Removed {count} modules that nothing needs any more", { count: modules });
  await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.housekeeping, [job]));
}

/** Removes a batch after another until one is not full. @returns How many were removed in all. */
async function inBatches(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  let count = 0;
  for (let removed = BATCH; removed === BATCH && !signal.aborted; count += removed) removed = await remove();
  return count;
}
