import type { PgBoss } from "pg-boss";
import { RUN_KINDS, type RunKindName } from "../../db/run_kinds.ts";

/**
 * The queues, beside those of other kinds of runs. `optimizations` holds their beginnings, slices and ends, `checks` modules before their registration, `dead` the jobs that
 * used up their attempts.
 */
export const QUEUES = {
  backtests: RUN_KINDS.backtest.queue,
  optimizations: RUN_KINDS.optimization.queue,
  ingestion: "ingestion",
  schedules: "ingestion-schedules",
  checks: "module-checks",
  housekeeping: "housekeeping",
  dead: "backtests-dead",
} as const;
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES] | (typeof RUN_KINDS)[RunKindName]["queue"];

// A worker's death is noticed when its jobs miss the heartbeat and a monitor pass finds them.
const HEARTBEAT_SECONDS = 10;
export const MONITOR_SECONDS = 5;
const RETRY_LIMIT = 9;
const RETRY_LIMITS: Readonly<Partial<Record<QueueName, number>>> = {
  // The request waits 15 seconds for the verdict, and the client retries.
  [QUEUES.checks]: 0,
  // The next hour starts another.
  [QUEUES.housekeeping]: 0,
  [QUEUES.dead]: 1000,
};
// A restart of the database must not use up all attempts at once.
const RETRY_DELAY_SECONDS = 1;
const EXPIRY_MARGIN_SECONDS = 60;
const HOUSEKEEPING_SECONDS_MAX = 3600;
const INGESTION_SECONDS_MAX = 12 * 3600;
const YEAR_SECONDS = 365 * 86_400;
const KEEP_ENDED_SECONDS = 3600;

/** How often a job of a queue may be taken again; jobs.ts has the cost of an attempt. */
export function retryLimitOf(queue: QueueName): number {
  return RETRY_LIMITS[queue] ?? RETRY_LIMIT;
}

/** Creates or updates the queues. @param runSecondsMax How long a run may compute; a backtest's job expires a minute later. */
export async function createQueues(boss: PgBoss, runSecondsMax: number): Promise<void> {
  const kept = {
    retentionSeconds: YEAR_SECONDS,
    deleteAfterSeconds: KEEP_ENDED_SECONDS,
    retryDelay: RETRY_DELAY_SECONDS,
  };
  const guarded = { ...kept, heartbeatSeconds: HEARTBEAT_SECONDS };
  const run = { ...guarded, expireInSeconds: runSecondsMax + EXPIRY_MARGIN_SECONDS, deadLetter: QUEUES.dead };
  const settings = [
    [QUEUES.dead, { ...kept, retryDelay: 10 }],
    // A slice of an optimization ends with the trial that takes it beyond its second.
    ...Object.values(RUN_KINDS).map(({ queue }) => [queue, run] as const),
    [QUEUES.ingestion, { ...guarded, expireInSeconds: INGESTION_SECONDS_MAX, deadLetter: QUEUES.dead }],
    [QUEUES.schedules, guarded],
    [QUEUES.housekeeping, { ...guarded, expireInSeconds: HOUSEKEEPING_SECONDS_MAX }],
    [QUEUES.checks, { ...kept, retentionSeconds: 60, expireInSeconds: 60 }],
  ] as const;
  for (const [name, special] of settings) {
    const options = { ...special, retryLimit: retryLimitOf(name) };
    await boss.createQueue(name, options);
    // Creating leaves an existing queue as it was.
    await boss.updateQueue(name, options);
    // Fills pg-boss's cache of the queue. Sending inside a transaction with an empty cache would query a second connection: PGlite has
    // one alone, and would wait for itself.
    await boss.findJobs(name, { id: crypto.randomUUID() });
  }
}
