import { expect } from "@std/expect";
import type { DatabaseHandle, Db } from "../../../db/client.ts";
import { Jobs, type TakenJob } from "../../../workers/jobs/jobs.ts";
import { JobLoop } from "../../../workers/jobs/loop.ts";
import { QUEUES } from "../../../workers/jobs/queues.ts";
import { eachDatabaseTest } from "../../support/database.ts";
import { until } from "../../support/until.ts";

eachDatabaseTest(
  "a job in the spare place makes way once, for users who have no job running",
  (handle) =>
    withPlaces(handle, async ({ send, end, untilRun, begun }) => {
      await send("ann 1", "ann 2");
      await untilRun("ann 1");
      await send("bob 1");
      await untilRun("ann 1", "bob 1");
      await send("cid 1");
      await untilRun("ann 1", "cid 1");
      // Bob has a job that made way, so the spare place is not for another of his.
      await send("bob 2");
      end("cid 1");
      await send("dan 1");
      await untilRun("ann 1", "dan 1");
      end("ann 1");
      await untilRun("bob 1", "dan 1");
      end("dan 1");
      await untilRun("ann 2", "bob 1");
      await send("eve 1");
      await untilRun("bob 1", "eve 1");
      end("bob 1");
      await untilRun("ann 2", "eve 1");
      end("eve 1");
      await untilRun("ann 2", "bob 2");
      expect(begun).toEqual([
        ...["ann 1", "bob 1", "cid 1", "dan 1", "bob 1"],
        ...["ann 2", "eve 1", "ann 2", "bob 2"],
      ]);
    }),
);

/** A queue's one place and its spare place, whose jobs run until the test ends them or they are stopped. */
async function withPlaces(handle: DatabaseHandle, body: (scene: Scene) => Promise<void>): Promise<void> {
  const { db } = handle;
  const jobs = await Jobs.open(handle, 60);
  const running = new Map<TakenJob, PromiseWithResolvers<void>>();
  const begun: string[] = [];
  const runJob = async (job: TakenJob, signal: AbortSignal) => {
    const ended = Promise.withResolvers<void>();
    running.set(job, ended);
    begun.push(nameOf(job));
    signal.addEventListener("abort", () => ended.resolve());
    await ended.promise;
    await db.transaction((tx: Db) =>
      signal.aborted ? jobs.giveBack(tx, QUEUES.backtests, job) : jobs.complete(tx, QUEUES.backtests, [job])
    );
    // Now the other place may take it.
    running.delete(job);
  };
  const loop = new JobLoop(jobs, QUEUES.backtests, () => 1, runJob);
  const spare = new JobLoop(jobs, QUEUES.backtests, () => 1, runJob, loop);
  await jobs.changes.subscribe(`queue ${QUEUES.backtests}`, () => loop.wake());
  try {
    await body({
      begun,
      async send(...names) {
        for (const name of names) {
          const ownerId = name.slice(0, 3);
          await db.transaction((tx: Db) => jobs.send(tx, QUEUES.backtests, crypto.randomUUID(), { name }, { ownerId }));
        }
      },
      end: (name) => [...running].find(([job]) => nameOf(job) === name)?.[1].resolve(),
      untilRun: async (...names) =>
        void await until(() => [...running.keys()].map(nameOf).toSorted().join() === names.join()),
    });
  } finally {
    await Promise.all([loop.close(60_000), spare.close(60_000)]);
    await jobs.close();
  }
}

interface Scene {
  /** The names of the jobs, as often as they began. */
  readonly begun: readonly string[];
  /** Queues jobs, each of the user whom its name begins with. */
  send(...names: readonly string[]): Promise<void>;
  end(name: string): void;
  /** Waits until these jobs run, and no others. */
  untilRun(...names: readonly string[]): Promise<void>;
}

function nameOf({ data }: TakenJob): string {
  return typeof data === "object" && data !== null && "name" in data ? String(data.name) : "";
}
