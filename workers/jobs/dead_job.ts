import { getLogger } from "@logtape/logtape";
import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import { RUN_RECORDS } from "../../db/run_records.ts";
import { finishRun } from "../../market/ingestion/ingestion_run.ts";
import { INTERNAL_ERROR } from "../common/outcome.ts";
import type { Jobs, TakenJob } from "./jobs.ts";
import { QUEUES } from "./queues.ts";
import { topicsOfEnd } from "./run_jobs.ts";

const log = getLogger(["hindcast", "queue"]);

// A dead job carries the data of the job that used up its attempts: `runId` is an ingestion run's.
const dataSchema = z.record(z.string(), z.unknown());
const idSchema = z.uuid();

/** Ends the record of a job that used up its attempts. */
export async function runDeadJob(
  { db, jobs }: { readonly db: Db; readonly jobs: Jobs },
  job: TakenJob,
): Promise<void> {
  const data = dataSchema.parse(job.data);
  if (data.runId !== undefined) {
    const runId = idSchema.parse(data.runId);
    log.error("Giving up after the last attempt", { run_id: runId });
    await finishRun(db, runId, INTERNAL_ERROR.message);
  }
  await db.transaction(async (tx: Db) => {
    for (const records of Object.values(RUN_RECORDS)) {
      const { jobKey, logKey } = RUN_KINDS[records.kind];
      if (data[jobKey] === undefined) continue;
      const id = idSchema.parse(data[jobKey]);
      log.error("Giving up after the last attempt", { [logKey]: id });
      if (await records.fail(tx, id, INTERNAL_ERROR)) {
        await jobs.changes.notify(tx, topicsOfEnd(records.kind, { id, ownerId: String(data.ownerId) }));
      }
    }
    await jobs.complete(tx, QUEUES.dead, [job]);
  });
}
