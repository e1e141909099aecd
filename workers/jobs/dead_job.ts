import { getLogger } from "@logtape/logtape";
import { z } from "zod";
import { abandonBacktest } from "../../db/failed_backtests.ts";
import type { Db } from "../../db/client.ts";
import { endMonteCarlo } from "../../db/monte_carlos.ts";
import { failOptimization } from "../../db/optimizations.ts";
import { finishRun } from "../../market/ingestion/ingestion_run.ts";
import { INTERNAL_ERROR } from "../outcome.ts";
import type { Jobs, TakenJob } from "./jobs.ts";
import { QUEUES } from "./queues.ts";

const log = getLogger(["hindcast", "queue"]);

// A dead job carries the data of the job that used up its attempts.
const dataSchema = z.union([
  z.object({ backtestId: z.uuid() }),
  z.object({ runId: z.uuid() }),
  z.object({ optimizationId: z.uuid() }),
  z.object({ monteCarloId: z.uuid() }),
]);

/** Ends the record of a job that used up its attempts. */
export async function runDeadJob(
  { db, jobs }: { readonly db: Db; readonly jobs: Jobs },
  job: TakenJob,
): Promise<void> {
  const data = dataSchema.parse(job.data);
  log.error("Giving up after the last attempt", subjectOf(data));
  if ("runId" in data) await finishRun(db, data.runId, INTERNAL_ERROR.message);
  await db.transaction(async (tx: Db) => {
    if ("backtestId" in data && await abandonBacktest(tx, data.backtestId, INTERNAL_ERROR)) {
      await jobs.changes.notify(tx, [`backtest ${data.backtestId}`]);
    }
    if ("optimizationId" in data && await failOptimization(tx, data.optimizationId, INTERNAL_ERROR)) {
      await jobs.changes.notify(tx, [`optimization ${data.optimizationId}`, `end ${data.optimizationId}`]);
    }
    if ("monteCarloId" in data && await endMonteCarlo(tx, data.monteCarloId, INTERNAL_ERROR)) {
      await jobs.changes.notify(tx, [`monte carlo ${data.monteCarloId}`]);
    }
    await jobs.complete(tx, QUEUES.dead, [job]);
  });
}

function subjectOf(data: z.infer<typeof dataSchema>): Record<string, string> {
  if ("runId" in data) return { run_id: data.runId };
  if ("monteCarloId" in data) return { monte_carlo_id: data.monteCarloId };
  return "backtestId" in data ? { backtest_id: data.backtestId } : { optimization_id: data.optimizationId };
}
