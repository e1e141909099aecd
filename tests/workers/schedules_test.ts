import { expect } from "@std/expect";
import { listRuns } from "../../db/ingestion.ts";
import { deleteInstrument, ensureInstrument, updateInstrument } from "../../db/instruments.ts";
import { Jobs, QUEUES } from "../../workers/jobs.ts";
import { startScheduledRun, syncSchedules } from "../../workers/schedules.ts";
import { databaseTest } from "../support/database.ts";

databaseTest("the queue's schedules are the instruments', and what the clock starts is a run", async (handle) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, 60);
  try {
    const row = { exchange: "TEST", assetClass: "crypto", provider: "provider_a", timeframe: "1d" } as const;
    const daily = await ensureInstrument(db, { ...row, symbol: "DAILY", schedule: "5 0 * * *" });
    const hourly = await ensureInstrument(db, { ...row, symbol: "HOURLY", schedule: "0 * * * *" });
    await ensureInstrument(db, { ...row, symbol: "BY HAND" });
    await syncSchedules(db, jobs);
    const held = () => jobs.listSchedules(QUEUES.schedules);
    expect(await held()).toEqual(new Map([[daily.id, "5 0 * * *"], [hourly.id, "0 * * * *"]]));
    await updateInstrument(db, daily.id, { schedule: "30 1 * * 1-5" });
    await updateInstrument(db, hourly.id, { schedule: null });
    await syncSchedules(db, jobs);
    expect(await held()).toEqual(new Map([[daily.id, "30 1 * * 1-5"]]));

    // The clock sends a job; two before the first was done are one run.
    for (let i = 0; i < 2; i++) {
      await db.transaction((tx) => jobs.send(tx, QUEUES.schedules, crypto.randomUUID(), { instrumentId: daily.id }));
    }
    for (const job of await jobs.take(QUEUES.schedules, 10)) await startScheduledRun({ db, jobs }, job);
    const runs = await listRuns(db, { limit: 10 });
    expect(runs).toMatchObject([{ trigger: "schedule", status: "queued", instruments: [{ symbol: "DAILY" }] }]);
    expect((await jobs.take(QUEUES.ingestion, 10)).map(({ id }) => id)).toEqual([runs[0]!.id]);

    await deleteInstrument(db, daily.id);
    await syncSchedules(db, jobs);
    expect(await held()).toEqual(new Map());
  } finally {
    await jobs.close();
  }
});
