import { getLogger } from "@logtape/logtape";
import { removeEndedBacktests } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { forgetSubmissions, SUBMISSION_KEPT_MS } from "../db/idempotency.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";

const log = getLogger(["hindcast", "housekeeping"]);

const DAY_MS = 86_400_000;
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
 * Removes what is too old: ended backtests with their trades, equity and orders where results are kept for so long only, and the names
 * of submissions of which a retry comes no more. What waits or runs stays, however old it is.
 *
 * @param signal Ends it after the batch that is under way; the next hour goes on.
 */
export async function keepHouse({ db, jobs, resultDaysMax }: HouseServices, job: TakenJob, signal: AbortSignal) {
  if (resultDaysMax !== undefined) {
    const before = new Date(Date.now() - resultDaysMax * DAY_MS);
    let count = 0;
    for (let removed = BATCH; removed === BATCH && !signal.aborted;) {
      removed = await removeEndedBacktests(db, before, BATCH);
      count += removed;
    }
    if (count > 0) log.info("Removed {count} backtests that ended before {before}", { count, before });
  }
  await forgetSubmissions(db, new Date(Date.now() - SUBMISSION_KEPT_MS));
  await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.housekeeping, [job]));
}
