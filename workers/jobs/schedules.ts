import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { findInstrumentById, listAllInstruments } from "../../db/instruments.ts";
import { findCronFault } from "../../market/ingestion/schedule.ts";
import { createRun } from "../../market/ingestion/ingestion_run.ts";
import type { Jobs, TakenJob } from "./jobs.ts";
import { QUEUES } from "./queues.ts";

// There are never this many simultaneous writers.
const ROUNDS_MAX = 10;

const dataSchema = z.object({ instrumentId: z.uuid() });

/** The queue's schedules. */
type Schedules = Pick<Jobs, "listSchedules" | "schedule" | "unschedule">;

/** Updates the queue's schedules to those of the instruments, in UTC. */
export async function syncSchedules(db: Db, schedules: Schedules): Promise<void> {
  // Another process may write schedules from an older read, so repeat until a round changes nothing.
  for (let round = 1; round <= ROUNDS_MAX && await changeSchedules(db, schedules); round++);
}

/** @returns True if it changed a schedule. */
async function changeSchedules(db: Db, schedules: Schedules): Promise<boolean> {
  const instruments = await listAllInstruments(db);
  // Older versions stored schedules without validation: skip those that cannot be read.
  const wanted = new Map(instruments.flatMap(({ id, schedule }) => {
    return schedule === null || findCronFault(schedule) !== null ? [] : [[id, schedule]];
  }));
  const held = await schedules.listSchedules(QUEUES.schedules);
  const superfluous = [...held.keys()].filter((id) => !wanted.has(id));
  const missing = [...wanted].filter(([id, cron]) => held.get(id) !== cron);
  for (const id of superfluous) await schedules.unschedule(QUEUES.schedules, id);
  for (const [id, cron] of missing) {
    await schedules.schedule(QUEUES.schedules, id, { cron, data: { instrumentId: id } });
  }
  return superfluous.length + missing.length > 0;
}

/** Starts a scheduled ingestion run, or joins one that is in flight. */
export async function startScheduledRun(
  { db, jobs }: { readonly db: Db; readonly jobs: Jobs },
  job: TakenJob,
): Promise<void> {
  const { instrumentId } = dataSchema.parse(job.data);
  await db.transaction(async (tx: Db) => {
    const instrument = await findInstrumentById(tx, instrumentId);
    if (instrument !== undefined) {
      const key = { symbol: instrument.symbol, exchange: instrument.exchange };
      const { run, joined } = await createRun(tx, { trigger: "schedule", instruments: [key] });
      if (!joined) await jobs.send(tx, QUEUES.ingestion, run.id, { runId: run.id });
    }
    await jobs.complete(tx, QUEUES.schedules, [job]);
  });
}
