import { z } from "zod";
import type { Db } from "../db/client.ts";
import { findInstrumentById, listAllInstruments } from "../db/instruments.ts";
import { createRun } from "../market/ingestion.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";

const dataSchema = z.object({ instrumentId: z.uuid() });

/** Makes what the queue does by the clock agree with the instruments: one schedule for each that has one, in UTC. */
export async function syncSchedules(db: Db, jobs: Jobs): Promise<void> {
  const instruments = await listAllInstruments(db);
  const wanted = new Map(instruments.flatMap(({ id, schedule }) => schedule === null ? [] : [[id, schedule]]));
  const held = await jobs.listSchedules(QUEUES.schedules);
  for (const id of held.keys()) {
    if (!wanted.has(id)) await jobs.unschedule(QUEUES.schedules, id);
  }
  for (const [id, cron] of wanted) {
    if (held.get(id) !== cron) await jobs.schedule(QUEUES.schedules, id, { cron, data: { instrumentId: id } });
  }
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
