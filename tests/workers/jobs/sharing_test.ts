import { expect } from "@std/expect";
import type { Db } from "../../../db/client.ts";
import { Jobs, type TakenJob } from "../../../workers/jobs/jobs.ts";
import { JobLoop } from "../../../workers/jobs/loop.ts";
import { type QueueName, QUEUES } from "../../../workers/jobs/queues.ts";
import { databaseTest } from "../../support/database.ts";
import { until } from "../../support/until.ts";

/** A loop whose jobs run until the test ends them or they yield; `running` has the names of those that run, in the order of their begin. */
async function openScene(db: Db, jobs: Jobs, queue: QueueName, sharedPlaces: number) {
  const names = new Map<string, string>();
  const running = new Map<string, () => void>();
  const attempts: string[] = [];
  const handle = async (job: TakenJob, signal: AbortSignal) => {
    const name = names.get(job.id) ?? "";
    attempts.push(name);
    const ended = Promise.withResolvers<void>();
    running.set(name, ended.resolve);
    signal.addEventListener("abort", () => ended.resolve());
    await ended.promise;
    await db.transaction((tx: Db) =>
      signal.aborted
        ? jobs.giveBack(tx, queue, job, signal.reason === "yield" ? { reason: "yield" } : {})
        : jobs.complete(tx, queue, [job])
    );
    // It may run again already.
    if (running.get(name) === ended.resolve) running.delete(name);
  };
  const loop = new JobLoop(jobs, queue, { concurrency: () => sharedPlaces, sharedPlaces }, handle);
  await jobs.changes.subscribe(`queue ${queue}`, () => loop.wake());
  return {
    attempts,
    /** Queues jobs, each of the user that its first letter names. */
    async send(...all: readonly string[]) {
      for (const name of all) {
        const id = crypto.randomUUID();
        names.set(id, name);
        await db.transaction((tx: Db) => jobs.send(tx, queue, id, {}, { ownerId: name.slice(0, 1) }));
      }
    },
    end: (name: string) => running.get(name)?.(),
    /** Waits until these jobs run, and no others. */
    untilRun: (...all: readonly string[]) => until(() => [...running.keys()].toSorted().join() === all.join()),
    close: () => loop.close(5000),
  };
}

const withScene = (queue: QueueName, sharedPlaces: number, body: (scene: Scene) => Promise<void>) => {
  return async ({ db, ...handle }: Parameters<Parameters<typeof databaseTest>[1]>[0]) => {
    const jobs = await Jobs.open({ db, ...handle }, 60);
    const scene = await openScene(db, jobs, queue, sharedPlaces);
    try {
      await body(scene);
    } finally {
      await scene.close();
      await jobs.close();
    }
  };
};
type Scene = Awaited<ReturnType<typeof openScene>>;

databaseTest(
  "beside one user's runs a place is left for another user, whose runs yield in it when a third user waits",
  withScene(QUEUES.backtests, 1, async ({ send, end, untilRun, attempts }) => {
    await send("a1", "a2");
    await untilRun("a1");
    await send("b1");
    await untilRun("a1", "b1");
    // Of two users with a run each, the older run yields. It comes back as soon as its place is free.
    await send("c1");
    await untilRun("b1", "c1");
    end("c1");
    await untilRun("a1", "b1");
    // It does not yield again: the other one does.
    await send("d1");
    await untilRun("a1", "d1");
    // The place for others takes no run that yielded, so that its runs yield soon.
    end("d1");
    await untilRun("a1");
    end("a1");
    await untilRun("a2", "b1");
    expect(attempts.join()).toBe("a1,b1,c1,a1,d1,b1,a2");
  }),
);

databaseTest(
  "a user with several runs is the one whose run yields, and all that yielded complete",
  withScene(QUEUES.backtests, 2, async ({ send, end, untilRun }) => {
    await send("a1", "a2", "a3");
    await untilRun("a1", "a2");
    await send("b1");
    await untilRun("a1", "a2", "b1");
    await send("c1");
    await untilRun("a2", "b1", "c1");
    await send("d1");
    await untilRun("b1", "c1", "d1");
    for (const name of ["c1", "d1"]) end(name);
    // The runs that yielded come before those that have never run.
    await untilRun("a1", "a2", "b1");
    end("a2");
    await untilRun("a1", "a3", "b1");
    await send("e1");
    await untilRun("a1", "b1", "e1");
    end("a1");
    await untilRun("a3", "b1", "e1");
  }),
);

databaseTest(
  "module checks that yield come last, so that a new user's check waits for a share of the running ones",
  withScene(QUEUES.checks, 1, async ({ send, end, untilRun }) => {
    await send("a1");
    await send("b1");
    await untilRun("a1", "b1");
    await send("c1", "d1");
    await untilRun("c1", "d1");
    await send("e1");
    await untilRun("d1", "e1");
    end("e1");
    await untilRun("a1", "d1");
    await send("f1", "g1");
    await untilRun("f1", "g1");
  }),
);
