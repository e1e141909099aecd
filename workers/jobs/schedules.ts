import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { findInstrumentById, listAllInstruments } from "../../db/instruments.ts";
import { findCronFault } from "../../market/ingestion/schedule.ts";
import { createRun } from "../../market/ingestion/ingestion_run.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";

// As many writers at one moment are unheard of.
const ROUNDS_MAX = 10;

const dataSchema = z.object({ instrumentId: z.uuid() });

/** Where what is started by the clock is kept. */
type Schedules = Pick<Jobs, "listSchedules" | "schedule" | "unschedule">;

/** Makes what the queue does by the clock agree with the instruments: one schedule for each that has one, in UTC. */
export async function syncSchedules(db: Db, schedules: Schedules): Promise<void> {
  // Others may do the same with what they have read: whoever has written looks again, so that nothing out of date stays.
  for (let round = 1; round <= ROUNDS_MAX && await changeSchedules(db, schedules); round++);
}

/** @returns Whether there was anything to change. */
async function changeSchedules(db: Db, schedules: Schedules): Promise<boolean> {
  const instruments = await listAllInstruments(db);
  // One that nobody can read, from before such were refused, must not keep the others from theirs.
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

/** What the clock started: a run as an operator would ask for, joined to one that is in flight. */
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
