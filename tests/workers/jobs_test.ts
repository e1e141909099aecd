import { expect } from "@std/expect";
import type { Db } from "../../db/client.ts";
import { JobLoop } from "../../workers/job_loop.ts";
import { Jobs, QUEUES, type TakenJob } from "../../workers/jobs.ts";
import { databaseSteps } from "../support/backtests.ts";

const RUN_SECONDS_MAX = 60;

databaseSteps("jobs", async (handle, step) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, RUN_SECONDS_MAX);
  const send = (id: string) => db.transaction((tx: Db) => jobs.send(tx, QUEUES.backtests, id, { backtestId: id }));
  const complete = (job: TakenJob) => db.transaction((tx: Db) => jobs.complete(tx, QUEUES.backtests, [job]));
  const takeAll = () => jobs.take(QUEUES.backtests, 100);
  const newId = () => crypto.randomUUID();
  try {
    await step("a job exists when its transaction commits, and does not when it is rolled back", async () => {
      const [kept, dropped] = [newId(), newId()];
      await send(kept);
      const refused = db.transaction(async (tx: Db) => {
        await jobs.send(tx, QUEUES.backtests, dropped, {});
        throw new Error("the record could not be written");
      });
      await expect(refused).rejects.toThrow("could not be written");
      const taken = await takeAll();
      expect(taken).toEqual([{ id: kept, retryCount: 0, data: { backtestId: kept } }]);
      for (const job of taken) await complete(job);
      expect(await takeAll()).toEqual([]);
    });

    await step("an id is queued once", async () => {
      const id = newId();
      await send(id);
      await expect(send(id)).rejects.toThrow(`Cannot queue ${id}`);
      for (const job of await takeAll()) await complete(job);
    });

    await step("a job that is given back comes first again, its attempt not counted", async () => {
      const [first, second] = [newId(), newId()];
      await send(first);
      const [job] = await jobs.take(QUEUES.backtests, 1);
      await send(second);
      await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.backtests, job!));
      const again = [...await jobs.take(QUEUES.backtests, 1), ...await jobs.take(QUEUES.backtests, 1)];
      expect(again.map(({ id, retryCount }) => [id, retryCount])).toEqual([[first, 0], [second, 0]]);
      for (const one of again) await complete(one);
    });

    await step("who took a job before another did can no longer touch, end or give it back", async () => {
      const id = newId();
      await send(id);
      const [job] = await takeAll();
      const zombie = { ...job!, retryCount: job!.retryCount + 1 };
      expect((await jobs.touch(QUEUES.backtests, [job!])).has(id)).toBe(true);
      expect((await jobs.touch(QUEUES.backtests, [zombie])).has(id)).toBe(false);
      await complete(zombie);
      await db.transaction((tx: Db) => jobs.fail(tx, QUEUES.backtests, zombie, "late"));
      await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.backtests, zombie));
      expect(await takeAll()).toEqual([]);
      expect((await jobs.touch(QUEUES.backtests, [job!])).has(id)).toBe(true);
      await complete(job!);
    });

    await step("a job taken away from its queue is nobody's", async () => {
      const id = newId();
      await send(id);
      const [job] = await takeAll();
      await db.transaction((tx: Db) => jobs.cancel(tx, QUEUES.backtests, id));
      expect((await jobs.touch(QUEUES.backtests, [job!])).size).toBe(0);
    });

    await step(
      "a loop takes as many as it may, wakes for new ones, and hands back what it holds when closed",
      async () => {
        const ids = [newId(), newId(), newId()];
        const begun: string[] = [];
        const two = Promise.withResolvers<void>();
        const loop = new JobLoop(jobs, QUEUES.backtests, () => 2, async (job, signal) => {
          begun.push(job.id);
          if (begun.length === 2) two.resolve();
          await new Promise((stop) => signal.addEventListener("abort", stop));
          expect(signal.reason).toBe("closing");
          await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.backtests, job));
        });
        const unsubscribe = await jobs.changes.subscribe(`queue ${QUEUES.backtests}`, () => loop.wake());
        for (const id of ids) await send(id);
        await two.promise;
        await loop.close(5000);
        unsubscribe();
        expect(begun.sort()).toEqual(ids.slice(0, 2).sort());
        const left = await takeAll();
        expect(left.map(({ id }) => id).sort()).toEqual(ids.sort());
        for (const job of left) await complete(job);
      },
    );

    await step("a job that failed three times goes to the dead", async () => {
      const id = newId();
      await send(id);
      const dead = Promise.withResolvers<TakenJob>();
      let attempts = 0;
      const loop = new JobLoop(jobs, QUEUES.backtests, () => 1, async (job) => {
        attempts++;
        await db.transaction((tx: Db) => jobs.fail(tx, QUEUES.backtests, job, "see the log"));
      });
      const graveyard = new JobLoop(jobs, QUEUES.dead, () => 1, async (job) => {
        await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.dead, [job]));
        dead.resolve(job);
      });
      const retries = setInterval(() => (loop.wake(), graveyard.wake()), 100);
      expect((await dead.promise).data).toEqual({ backtestId: id });
      expect(attempts).toBe(3);
      clearInterval(retries);
      await Promise.all([loop.close(1000), graveyard.close(1000)]);
    });

    await step("the queue answers for its health", () => jobs.check());
  } finally {
    await jobs.close();
  }
});
