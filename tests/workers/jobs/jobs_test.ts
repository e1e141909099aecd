import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { PgBoss } from "pg-boss";
import type { DatabaseHandle, Db } from "../../../db/client.ts";
import { rowsOf } from "../../../db/answer_rows.ts";
import { JobLoop } from "../../../workers/jobs/loop.ts";
import { connectBoss } from "../../../workers/jobs/boss_database.ts";
import type { Topic } from "../../../workers/jobs/changes.ts";
import { Jobs, type TakenJob } from "../../../workers/jobs/jobs.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { eachDatabaseSteps } from "../../support/database.ts";

const RUN_SECONDS_MAX = 60;

eachDatabaseSteps("jobs", async (handle, step) => {
  const { db } = handle;
  const jobs = await Jobs.open(handle, RUN_SECONDS_MAX);
  const send = (id: string) => db.transaction((tx: Db) => jobs.send(tx, QUEUES.backtests, id, { backtestId: id }));
  const complete = (job: TakenJob) => db.transaction((tx: Db) => jobs.complete(tx, QUEUES.backtests, [job]));
  const takeAll = () => jobs.take(QUEUES.backtests, 100);
  const supervisor = await startSupervisor(handle);
  // As if each worker had died a minute ago: the pass that looks for such jobs finds theirs, and their delay is over at once.
  const loseWorkers = async () => {
    await db.execute(sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where state = 'active'`);
    await db.execute(sql`update pgboss.queue set monitor_on = null, monitor_claim_on = null`);
    await supervisor.supervise(QUEUES.backtests);
    await db.execute(sql`update pgboss.job set start_after = now() where state = 'retry'`);
  };
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
      expect(taken).toEqual([{ id: kept, retryCount: 0, data: { backtestId: kept }, isSuspect: false }]);
      for (const job of taken) await complete(job);
      expect(await takeAll()).toEqual([]);
    });

    await step("an id is queued once", async () => {
      const id = newId();
      await send(id);
      await expect(send(id)).rejects.toThrow(`Cannot queue ${id}`);
      for (const job of await takeAll()) await complete(job);
    });

    await step("a job that is given back comes first again, and costs it no attempt, however often", async () => {
      const [first, second] = [newId(), newId()];
      await send(first);
      const held = await jobs.take(QUEUES.backtests, 1);
      await send(second);
      for (let i = 1; i <= 20; i++) {
        await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.backtests, held[0]!));
        held[0] = (await jobs.take(QUEUES.backtests, 1))[0]!;
        expect(held[0]).toMatchObject({ id: first, retryCount: i, isSuspect: false });
      }
      held.push(...await jobs.take(QUEUES.backtests, 1));
      expect(held.map(({ id }) => id)).toEqual([first, second]);
      for (const one of held) await complete(one);
    });

    await step(
      "jobs that the last process of an embedded database held are overdue when the next one opens it",
      async () => {
        const id = newId();
        await send(id);
        const [job] = await takeAll();
        const next = await Jobs.open(handle, RUN_SECONDS_MAX);
        const overdue = await db.execute(sql`
        select from pgboss.job where id = ${id}::uuid and heartbeat_on + heartbeat_seconds * interval '1 second' < now()`);
        // On PostgreSQL it may well be another's, who lives.
        expect(rowsOf(overdue)).toHaveLength(handle.connection.kind === "pglite" ? 1 : 0);
        await next.close();
        await complete(job!);
      },
    );

    await step("a holder that gave a job back cannot end the attempt of the next holder", async () => {
      const id = newId();
      await send(id);
      const [zombie] = await takeAll();
      await loseWorkers();
      const [closing] = await takeAll();
      await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.backtests, closing!));
      const [now] = await takeAll();
      for (const late of [zombie!, closing!]) {
        expect((await jobs.touch(QUEUES.backtests, [late])).size).toBe(0);
        await complete(late);
      }
      expect((await jobs.touch(QUEUES.backtests, [now!])).has(id)).toBe(true);
      await complete(now!);
    });

    await step("a worker that lost a job to another can no longer touch, end or give it back", async () => {
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
        await loop.close(60_000);
        unsubscribe();
        expect(begun.sort()).toEqual(ids.slice(0, 2).sort());
        const left = await takeAll();
        expect(left.map(({ id }) => id).sort()).toEqual(ids.sort());
        for (const job of left) await complete(job);
      },
    );

    await step("a change of each kind of subject reaches those who wait for it", async () => {
      const id = newId();
      const kinds = ["backtest", "backtests", "end", "served", "answer", "check", "queue"] as const;
      const topics: Topic[] = kinds.map((kind): Topic => kind === "served" ? `${kind} ${id} ${id}` : `${kind} ${id}`);
      const heard = new Set<Topic>();
      const last = Promise.withResolvers<void>();
      const unsubscribes = await Promise.all(topics.map((topic) =>
        jobs.changes.subscribe(topic, () => {
          heard.add(topic);
          if (topic === topics.at(-1)) last.resolve();
        })
      ));
      // A listener that has just connected tells all of them, too.
      heard.clear();
      // Notifications arrive in their order: those before the last have come with it.
      for (const topic of topics) await jobs.changes.notify(db, [topic]);
      await last.promise;
      for (const unsubscribe of unsubscribes) unsubscribe();
      expect([...heard]).toEqual(topics);
    });

    await step("a job that leaves its place lets as many others begin as there are places", async () => {
      for (const _ of "three") await send(newId());
      const [two, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const begun: string[] = [];
      const loop = new JobLoop(jobs, QUEUES.backtests, () => 1, async (job, _signal, leavePlace) => {
        begun.push(job.id);
        leavePlace();
        if (begun.length === 2) two.resolve();
        await end.promise;
        await complete(job);
      });
      await two.promise;
      const left = await takeAll();
      end.resolve();
      await loop.close(60_000);
      expect([begun.length, left.length]).toEqual([2, 3]);
      for (const job of left) await complete(job);
    });

    await step("a job that goes on with other work passes it to its next attempt", async () => {
      const id = newId();
      await send(id);
      const [job] = await takeAll();
      const goOn = (data: object) => db.transaction((tx: Db) => jobs.goOn(tx, QUEUES.backtests, job!, data));
      expect(await goOn({ isEnd: true })).toBe(true);
      await loseWorkers();
      const [again] = await takeAll();
      expect(again).toMatchObject({ id, retryCount: 1, data: { backtestId: id, isEnd: true } });
      expect(await goOn({ isEnd: false })).toBe(false);
      await complete(again!);
    });

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
      await Promise.all([loop.close(60_000), graveyard.close(60_000)]);
    });

    await step(
      "a job whose workers die goes to the dead with the tenth, and is a suspect from the third on",
      async () => {
        const id = newId();
        await send(id);
        const suspected: boolean[] = [];
        for (let job = (await takeAll())[0]; job !== undefined; job = (await takeAll())[0]) {
          suspected.push(job.isSuspect);
          await loseWorkers();
        }
        expect(suspected).toEqual([false, false, false, true, true, true, true, true, true, true]);
        const [dead] = await jobs.take(QUEUES.dead, 1);
        expect(dead?.data).toEqual({ backtestId: id });
        await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.dead, [dead!]));
      },
    );

    await step("of several suspects a loop holds one at a time, beside others", async () => {
      const [poison, bystander, fresh] = [newId(), newId(), newId()];
      await send(poison);
      await send(bystander);
      for (let death = 0; death < 3; death++) {
        expect(await takeAll()).toHaveLength(2);
        await loseWorkers();
      }
      await send(fresh);
      const begun: string[] = [];
      const freshBegun = Promise.withResolvers<void>();
      const all = Promise.withResolvers<void>();
      const loop = new JobLoop(jobs, QUEUES.backtests, () => 10, async (job) => {
        begun.push(job.id);
        if (job.id === fresh) freshBegun.resolve();
        if (begun.length === 3) all.resolve();
        await freshBegun.promise;
        await complete(job);
      });
      await all.promise;
      expect(begun.slice(0, 2)).toContain(fresh);
      expect(begun.toSorted()).toEqual([poison, bystander, fresh].toSorted());
      await loop.close(60_000);
    });

    await step("the queue answers for its health", () => jobs.check());
  } finally {
    await supervisor.stop({ graceful: false });
    await jobs.close();
  }
});

/** Another process's queue, that can be asked to look for dead workers now. */
async function startSupervisor(handle: DatabaseHandle): Promise<PgBoss> {
  const { connection } = handle;
  const boss = new PgBoss({
    ...(connection.kind === "pglite"
      ? { db: connectBoss(handle, "test").db, backend: "pglite" as const }
      : { connectionString: connection.url, max: 1 }),
    supervise: false,
    schedule: false,
  });
  return await boss.start();
}
