import { expect } from "@std/expect";
import { listRuns } from "../../../db/ingestion.ts";
import { deleteInstrument, ensureInstrument, updateInstrument } from "../../../db/instruments.ts";
import { Jobs } from "../../../workers/jobs/jobs.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { openQueue } from "../../../workers/queue.ts";
import { startScheduledRun, syncSchedules } from "../../../workers/jobs/schedules.ts";
import { databaseTest, eachDatabaseTest } from "../../support/database.ts";

eachDatabaseTest("the queue's schedules are the instruments', and what the clock starts is a run", async (handle) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, 60);
  try {
    const row = { exchange: "TEST", assetClass: "crypto", provider: "provider_a", timeframe: "1d" } as const;
    const daily = await ensureInstrument(db, { ...row, symbol: "DAILY", schedule: "5 0 * * *" });
    const hourly = await ensureInstrument(db, { ...row, symbol: "HOURLY", schedule: "0 * * * *" });
    await ensureInstrument(db, { ...row, symbol: "BY HAND" });
    await ensureInstrument(db, { ...row, symbol: "NEVER", schedule: "0 0 31 2 *" });
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

databaseTest("schedules that others change at the same moment come to hold all the same", async (handle) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, 60);
  try {
    const row = { exchange: "TEST", assetClass: "crypto", provider: "provider_a", timeframe: "1d" } as const;
    const first = await ensureInstrument(db, { ...row, symbol: "FIRST", schedule: "1 0 * * *" });
    let others: string | undefined;
    // Between what this one reads and what it writes, another request adds an instrument and changes the first.
    const addsOne = async () => {
      if (others !== undefined) return;
      ({ id: others } = await ensureInstrument(db, { ...row, symbol: "SECOND", schedule: "2 0 * * *" }));
      await updateInstrument(db, first.id, { schedule: "3 0 * * *" });
      await syncSchedules(db, jobs);
    };
    await syncSchedules(db, {
      async listSchedules(queue) {
        await addsOne();
        return await jobs.listSchedules(queue);
      },
      schedule: (...all) => jobs.schedule(...all),
      unschedule: (...all) => jobs.unschedule(...all),
    });
    expect(await jobs.listSchedules(QUEUES.schedules)).toEqual(
      new Map([[first.id, "3 0 * * *"], [others, "2 0 * * *"]]),
    );
  } finally {
    await jobs.close();
  }
});

databaseTest("a schedule that was stored by a process that died then holds from the next start on", async (handle) => {
  const { db } = handle;
  const row = { symbol: "LEFT", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const { id } = await ensureInstrument(db, { ...row, timeframe: "1d", schedule: "5 0 * * *" });
  const queue = await openQueue({ handle, runSecondsMax: 60, isWorker: true });
  await queue.work(1);
  await queue.close();
  const jobs = await Jobs.open(handle, 60);
  expect(await jobs.listSchedules(QUEUES.schedules)).toEqual(new Map([[id, "5 0 * * *"]]));
  await jobs.close();
});
