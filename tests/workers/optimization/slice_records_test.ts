import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { TrialTable } from "../../../db/codec/trial_table.ts";
import type { Db } from "../../../db/client.ts";
import { findUnendedOptimization } from "../../../db/optimizations.ts";
import { Jobs, type TakenJob } from "../../../workers/jobs/jobs.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { SliceRecords } from "../../../workers/optimization/slice_records.ts";
import { partAt } from "../../../workers/optimization/windows.ts";
import { addUser } from "../../support/backtests.ts";
import { eachDatabaseSteps } from "../../support/database.ts";
import { addOptimization } from "../../support/optimizations.ts";

const QUEUE = QUEUES.optimizations;

eachDatabaseSteps("the job of an optimization goes on from its beginning to its end", async (handle, step) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, 60);
  const records = new SliceRecords(db, jobs);
  await addUser(db, "ann");
  const submit = async () => {
    const id = await addOptimization(db, "ann");
    await db.transaction((tx: Db) => jobs.send(tx, QUEUE, id, { optimizationId: id }, { ownerId: "ann" }));
    return { id, job: await takeOne() };
  };
  const takeAll = () => jobs.take(QUEUE, 100);
  const takeOne = async () => (await jobs.take(QUEUE, 1))[0]!;
  // As if its worker had died, and another had taken the job.
  const takeOver = async (job: TakenJob) => {
    await db.execute(sql`update pgboss.job set state = 'retry', start_after = now() where id = ${job.id}::uuid`);
    return await takeOne();
  };
  const find = async (id: string) => (await findUnendedOptimization(db, id))!;
  const begin = (job: TakenJob, id: string) => records.begin(job, id, { points: 4, constrained: 0, stretches: 2 });
  const store = async (job: TakenJob, id: string, [from, until]: readonly [number, number]) => {
    const trials = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
    for (let place = from; place < until; place++) {
      trials.addFailed({ place, point: place }, { code: "STRATEGY_FAILED", message: "it cannot" });
    }
    const counts = { constrained: 0, refused: 0, dataSha256: null, error: null, durationMs: 1 };
    const part = partAt(await find(id), from);
    return await records.store(job, id, { ...counts, part, from, until, end: until, trials: trials.encode() });
  };
  try {
    await step("the beginning goes on with the first stretch, and so does the attempt after a death", async () => {
      const { id, job } = await submit();
      const begun = await begin(job, id);
      expect(begun).toMatchObject({ stretch: { from: 0, until: 2 }, record: { points: 4, slicesOpen: 2 } });
      const others = await takeAll();
      expect(others.map(({ data }) => data)).toEqual([{ optimizationId: id, stretch: { from: 2, until: 4 } }]);
      const again = await takeOver(job);
      expect(again).toMatchObject({ id: job.id, data: { optimizationId: id, stretch: { from: 0, until: 2 } } });
      for (const each of [again, ...others]) await records.drop(each);
    });

    await step("a worker that has lost the job begins nothing", async () => {
      const { id, job } = await submit();
      const again = await takeOver(job);
      expect(await begin(job, id)).toBe(null);
      expect(await find(id)).toMatchObject({ status: "queued", points: 0 });
      expect(await takeAll()).toEqual([]);
      expect(await begin(again, id)).toMatchObject({ stretch: { from: 0, until: 2 } });
      for (const each of [again, ...await takeAll()]) await records.drop(each);
    });

    await step("the last slice goes on with the end, and so does the attempt after a death", async () => {
      const { id, job } = await submit();
      await begin(job, id);
      const [other] = await takeAll();
      expect(await store(job, id, [0, 2])).toBe(null);
      expect(await store(other!, id, [2, 4])).toMatchObject({ id, trials: 4, pointsDone: 4, slicesOpen: 0 });
      // The worker does not know whether the database has stored it, and tries again.
      expect(await store(other!, id, [2, 4])).toMatchObject({ id, trials: 4, pointsDone: 4 });
      const again = await takeOver(other!);
      expect(again.data).toMatchObject({ optimizationId: id, isEnd: true });
      expect(await store(other!, id, [2, 4])).toBe(null);
      await records.complete(again, id, { report: null, outOfSample: null, series: [] });
      expect([await findUnendedOptimization(db, id), await takeAll()]).toEqual([null, []]);
    });

    await step("an attempt after a death ends what the lost worker has stored", async () => {
      const { id, job } = await submit();
      await begin(job, id);
      const [other] = await takeAll();
      await store(job, id, [0, 2]);
      const again = await takeOver(other!);
      expect(await store(other!, id, [2, 4])).toBe(null);
      expect(await store(again, id, [2, 4])).toMatchObject({ id, trials: 4, pointsDone: 4 });
      await records.complete(again, id, { report: null, outOfSample: null, series: [] });
      expect([await findUnendedOptimization(db, id), await takeAll()]).toEqual([null, []]);
    });
  } finally {
    await jobs.close();
  }
});
