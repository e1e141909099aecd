/** The jobs of runs, the same for all kinds. */
import type { Db } from "../../db/client.ts";
import { RUN_KINDS, type RunKindName } from "../../db/run_kinds.ts";
import type { RunQueue } from "../../db/run_queue.ts";
import type { OwnedKey } from "../../db/runs.ts";
import type { Topic } from "./changes.ts";
import type { Jobs } from "./jobs.ts";

/** The subject of a change of a run's record. */
export function topicOf(kind: RunKindName, id: string): Topic {
  return `${RUN_KINDS[kind].topic} ${id}`;
}

/** The subjects of the end of a run: its record, its owner's list, and its workers, which need not go on. */
export function topicsOfEnd(kind: RunKindName, { id, ownerId }: OwnedKey): Topic[] {
  const list: Topic[] = kind === "backtest" ? [`backtests ${ownerId}`] : [];
  return [topicOf(kind, id), ...list, `end ${id}`];
}

/** Removes the jobs of a run that has ended, and stops its workers. */
export async function dequeueRun(tx: Db, jobs: Jobs, kind: RunKindName, run: OwnedKey): Promise<void> {
  const { id, ownerId } = run;
  const { queue, jobKey } = RUN_KINDS[kind];
  // Its first job has its id, the others its id in their data.
  if (kind === "optimization") await jobs.cancelAll(tx, queue, ownerId, jobKey, id);
  else await jobs.cancel(tx, queue, id);
  await jobs.changes.notify(tx, topicsOfEnd(kind, run));
}

/** The part of a queue that writes, removes and watches runs. */
export function queueRuns(jobs: Jobs): Pick<RunQueue, "enqueue" | "nextPosition" | "dequeue" | "watch" | "watchList"> {
  return {
    enqueue(tx, kind, { id, ownerId }, queuePosition) {
      const { queue, jobKey } = RUN_KINDS[kind];
      return jobs.send(tx, queue, id, { [jobKey]: id, ownerId }, { ownerId, priority: -queuePosition });
    },
    nextPosition: (tx, kind, ownerId) => jobs.nextPosition(tx, RUN_KINDS[kind].queue, ownerId),
    dequeue: (tx, kind, run) => dequeueRun(tx, jobs, kind, run),
    async watch(kind, id, onChange, onEnd) {
      const unwatch = await jobs.changes.subscribe(topicOf(kind, id), onChange);
      const unwatchEnd = onEnd && await jobs.changes.subscribe(`end ${id}`, onEnd);
      return () => {
        unwatch();
        unwatchEnd?.();
      };
    },
    watchList: (ownerId, onChange) => jobs.changes.subscribe(`backtests ${ownerId}`, onChange),
  };
}
