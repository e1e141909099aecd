import { getLogger } from "@logtape/logtape";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import type { Feeds } from "../../market/feeds/feed.ts";
import { executeRun } from "../../market/ingestion/ingestion_run.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import type { Jobs, TakenJob } from "./jobs.ts";
import { QUEUES } from "./queues.ts";

const log = getLogger(["hindcast", "queue"]);

interface IngestionServices {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly feeds: Feeds;
}

/** Executes an ingestion run, and gives it back when this process closes or the database fails. */
export async function runIngestionJob(
  { db, jobs, feeds }: IngestionServices,
  job: TakenJob,
  signal: AbortSignal,
): Promise<void> {
  const end = (write: (tx: Db) => Promise<void>) => retryOnDatabaseFault(signal, () => db.transaction(write));
  try {
    await executeRun(db, job.id, { signal, feeds });
  } catch (error) {
    // A run that is given back because this process closes has not failed.
    if (!signal.aborted) log.error("Cannot execute ingestion run {id}: {error}", { id: job.id, error });
    const isInnocent = signal.aborted || isDatabaseFault(error);
    return await end((tx) =>
      isInnocent ? jobs.giveBack(tx, QUEUES.ingestion, job) : jobs.fail(tx, QUEUES.ingestion, job, "see the log")
    );
  }
  await end((tx) => jobs.complete(tx, QUEUES.ingestion, [job]));
}
