import { getLogger } from "@logtape/logtape";
import { is, SQL, sql } from "drizzle-orm";
import { fromDrizzle, fromPglite, PgBoss } from "pg-boss";
import { z } from "zod";
import type { DatabaseHandle, Db } from "../../db/client.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import { openBossDatabase } from "./boss_database.ts";
import { Changes } from "./changes.ts";
import { traceSend } from "../telemetry.ts";

const log = getLogger(["hindcast", "queue"]);

/** The queues. `checks` holds modules that wait to be registered, `dead` what no worker could bring to an end. */
export const QUEUES = {
  backtests: "backtests",
  ingestion: "ingestion",
  schedules: "ingestion-schedules",
  checks: "module-checks",
  housekeeping: "housekeeping",
  dead: "backtests-dead",
} as const;
export type QueueName = (typeof QUEUES)[keyof typeof QUEUES];

/** A job that this process has taken. `id` is the record's id too; `retryCount` names the attempt. */
export interface TakenJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
  /** Whether so many workers died while they held it that it may be the reason. */
  readonly isSuspect: boolean;
}

// How soon the death of a worker is noticed: its jobs miss the heartbeat, and a monitor pass finds that.
const HEARTBEAT_SECONDS = 10;
const MONITOR_SECONDS = 5;
// How often a job may be taken again. What ends an attempt decides what it costs:
// - its worker died: one. Whether the job was the reason or a bystander is not known; ten deaths are no chance any more.
// - it failed while its worker lived on, so that the reason is the job's own: four. Nothing of that kind gets better the third time.
// - it was given back, because its worker closes or the database failed: nothing. Giving back raises the job's own limit by one.
const RETRY_LIMIT = 9;
const FAILURE_COST = 4;
// After so many deaths a job is a suspect. A process holds one suspect at a time, so that a job that kills its workers does not take
// the same bystanders with it each time until these are given up as well.
const SUSPECT_DEATHS = 3;
const SUSPECT_DELAY_SECONDS = 2;
const RETRY_LIMITS: Readonly<Record<QueueName, number>> = {
  [QUEUES.backtests]: RETRY_LIMIT,
  [QUEUES.ingestion]: RETRY_LIMIT,
  [QUEUES.schedules]: RETRY_LIMIT,
  // Whoever asks for a verdict waits 15 seconds for it, and asks again himself.
  [QUEUES.checks]: 0,
  // The next hour brings the next.
  [QUEUES.housekeeping]: 0,
  [QUEUES.dead]: 1000,
};
// So that a database that restarts does not use up all attempts at once.
const RETRY_DELAY_SECONDS = 1;
const EXPIRY_MARGIN_SECONDS = 60;
const HOUSEKEEPING_SECONDS_MAX = 3600;
const INGESTION_SECONDS_MAX = 12 * 3600;
const YEAR_SECONDS = 365 * 86_400;
const KEEP_ENDED_SECONDS = 3600;
// What the sessions of processes that take backtests are called, and how long such a process may be silent: several times as long as it
// ever is.
const WORKER_NAME = "hindcast-worker";
const WORKER_SILENCE_SECONDS = 15;

/**
 * Jobs in the same database as the records, so that one transaction writes both: pg-boss as this service uses it.
 *
 * Everything that ends a job takes a transaction and is fenced by the attempt: it changes nothing once the job is another's.
 */
export class Jobs {
  readonly changes: Changes;
  readonly #db: Db;
  readonly #boss: PgBoss;
  readonly #disconnect: () => Promise<void>;

  private constructor(db: Db, boss: PgBoss, disconnect: () => Promise<void>) {
    this.#db = db;
    this.#boss = boss;
    this.#disconnect = disconnect;
    this.changes = new Changes(boss);
  }

  /**
   * Connects, and creates or updates the queues.
   *
   * @param runSecondsMax How long a run may compute; a backtest's job expires a minute later.
   * @param isWorker Whether backtests will be taken through these connections, for others to see.
   */
  static async open(handle: DatabaseHandle, runSecondsMax: number, isWorker = false): Promise<Jobs> {
    const { disconnect, ...connection } = connect(handle, isWorker);
    const boss = new PgBoss({
      ...connection,
      schedule: true,
      // Nothing here depends on other jobs: no need to look for those often.
      flowIntervalSeconds: 3600,
      superviseIntervalSeconds: MONITOR_SECONDS,
      monitorIntervalSeconds: MONITOR_SECONDS,
      // A long queue is what a queue is for.
      warningQueueSize: 1_000_000,
    });
    boss.on("error", (error) => log.error("The queue's database connection: {error}", { error }));
    boss.on("warning", (warning) => log.warn("The queue warns: {message}", { ...warning }));
    try {
      await boss.start();
      await createQueues(boss, runSecondsMax);
      if (handle.connection.kind === "pglite") await endHeartbeats(handle.db);
    } catch (error) {
      await boss.stop({ graceful: false });
      await disconnect();
      throw error;
    }
    return new Jobs(handle.db, boss, disconnect);
  }

  /** Writes a job in the caller's transaction, under the record's id; higher priorities are taken first. */
  async send(tx: Db, queue: QueueName, id: string, data: object, priority = 0): Promise<void> {
    const sent = await traceSend(
      queue,
      id,
      (carried) => this.#boss.send(queue, { ...data, ...carried }, { id, priority, db: inTransaction(tx) }),
    );
    if (sent === null) throw new Error(`Cannot queue ${id}: the queue ${queue} has a job of that id already`);
    await this.changes.notify(tx, [`queue ${queue}`]);
  }

  /** Takes up to `count` jobs, those of the highest priority first and of these the oldest. */
  async take(queue: QueueName, count: number): Promise<TakenJob[]> {
    const jobs = await this.#boss.fetch<unknown>(queue, { batchSize: count, includeMetadata: true });
    return jobs.map(({ id, retryCount, retryLimit, data }) => {
      const deaths = retryCount + RETRY_LIMITS[queue] - retryLimit;
      return { id, retryCount, data, isSuspect: deaths >= SUSPECT_DEATHS };
    });
  }

  /** Says that the jobs are being worked on; returns the ids of those that are still this process's. */
  async touch(queue: QueueName, jobs: readonly TakenJob[]): Promise<ReadonlySet<string>> {
    return settledIds(await this.#boss.touch(queue, attempts(jobs)));
  }

  /** Ends jobs well. */
  async complete(tx: Db, queue: QueueName, jobs: readonly TakenJob[]): Promise<void> {
    if (jobs.length > 0) await this.#boss.complete(queue, attempts(jobs), null, { db: inTransaction(tx) });
  }

  /** Ends an attempt that failed by itself: the job is tried again a moment later, or goes to the dead when it had its attempts. */
  async fail(tx: Db, queue: QueueName, job: TakenJob, reason: string): Promise<void> {
    await tx.execute(
      sql`update pgboss.job set retry_limit = retry_limit - ${FAILURE_COST - 1}::integer where ${held(queue, job)}`,
    );
    await this.#boss.fail(queue, attempts([job]), { reason }, { db: inTransaction(tx) });
    await this.changes.notify(tx, [`queue ${QUEUES.dead}`]);
  }

  /**
   * Gives a job back unfinished, at the front of its queue and without counting the attempt.
   *
   * The attempts go on being numbered, since the number is the fence: pg-boss's own ways back would begin anew, and a worker of an
   * attempt long ago could end another's.
   */
  async giveBack(tx: Db, queue: QueueName, job: TakenJob, delaySeconds = 0): Promise<void> {
    await tx.execute(sql`
      update pgboss.job
      set state = 'retry', retry_limit = retry_limit + 1, priority = 1, heartbeat_on = null,
        start_after = now() + ${delaySeconds}::integer * interval '1 second'
      where ${held(queue, job)}`);
    await this.changes.notify(tx, [`queue ${queue}`]);
  }

  /** Gives a suspect back for as long as another is held. */
  async putOff(queue: QueueName, job: TakenJob): Promise<void> {
    await this.giveBack(this.#db, queue, job, SUSPECT_DELAY_SECONDS);
  }

  /** Ends a job that nobody has taken yet, or that somebody has: that one's later calls change nothing. */
  async cancel(tx: Db, queue: QueueName, id: string): Promise<void> {
    await this.#boss.deleteJob(queue, id, { db: inTransaction(tx) });
  }

  /** What is started by the clock: cron expressions by key. */
  async listSchedules(queue: QueueName): Promise<ReadonlyMap<string, string>> {
    const schedules = await this.#boss.getSchedules(queue);
    return new Map(schedules.map(({ key, cron }) => [key, cron]));
  }

  /** Sends a job whenever the cron expression says so, in UTC; once, however many processes there are. */
  async schedule(queue: QueueName, key: string, what: { readonly cron: string; readonly data: object }): Promise<void> {
    await this.#boss.schedule(queue, what.cron, what.data, { key, tz: "UTC" });
  }

  async unschedule(queue: QueueName, key: string): Promise<void> {
    await this.#boss.unschedule(queue, key);
  }

  /** @throws When the queue's tables cannot be reached. */
  async check(): Promise<void> {
    await this.#boss.getQueue(QUEUES.backtests);
  }

  /**
   * Whether any process on this PostgreSQL takes backtests. The server itself knows: a worker looks for jobs every few seconds, and one
   * that has died, is frozen or cut off says nothing any more. (When a session of another role spoke last is not shown.)
   */
  async findWorker(): Promise<boolean> {
    const rows = rowsOf(
      await this.#db.execute(sql`
        select from pg_stat_activity where datname = current_database() and application_name = ${WORKER_NAME}
          and coalesce(state_change, now()) > now() - ${WORKER_SILENCE_SECONDS}::integer * interval '1 second' limit 1`),
    );
    return rows.length > 0;
  }

  async close(): Promise<void> {
    await this.changes.close();
    await this.#boss.stop({ graceful: false });
    await this.#disconnect();
  }
}

/** pg-boss's way to the database, and how to end it: PGlite belongs to the handle. */
function connect({ connection }: DatabaseHandle, isWorker: boolean) {
  if (connection.kind === "pglite") {
    return { db: fromPglite(connection.pglite), backend: "pglite" as const, disconnect: () => Promise.resolve() };
  }
  const db = openBossDatabase(connection.url, isWorker ? WORKER_NAME : "hindcast-queue");
  return { db, disconnect: () => db.close() };
}

async function createQueues(boss: PgBoss, runSecondsMax: number): Promise<void> {
  const kept = {
    retentionSeconds: YEAR_SECONDS,
    deleteAfterSeconds: KEEP_ENDED_SECONDS,
    retryDelay: RETRY_DELAY_SECONDS,
  };
  const guarded = { ...kept, heartbeatSeconds: HEARTBEAT_SECONDS };
  const settings = [
    [QUEUES.dead, { ...kept, retryDelay: 10 }],
    [QUEUES.backtests, {
      ...guarded,
      expireInSeconds: runSecondsMax + EXPIRY_MARGIN_SECONDS,
      deadLetter: QUEUES.dead,
    }],
    [QUEUES.ingestion, { ...guarded, expireInSeconds: INGESTION_SECONDS_MAX, deadLetter: QUEUES.dead }],
    [QUEUES.schedules, guarded],
    [QUEUES.housekeeping, { ...guarded, expireInSeconds: HOUSEKEEPING_SECONDS_MAX }],
    [QUEUES.checks, { ...kept, retentionSeconds: 60, expireInSeconds: 60 }],
  ] as const;
  for (const [name, special] of settings) {
    const options = { ...special, retryLimit: RETRY_LIMITS[name] };
    await boss.createQueue(name, options);
    // Creating leaves an existing queue as it was.
    await boss.updateQueue(name, options);
    // Fills pg-boss's cache of the queue. Sending inside a transaction with an empty cache would ask a second connection,
    // and PGlite has no second one: it would wait for itself.
    await boss.findJobs(name, { id: crypto.randomUUID() });
  }
}

/**
 * An embedded database belongs to one process: whatever is held when it opens, the one before took with it when it died, and the next
 * monitor pass need not wait for the heartbeat to find that.
 */
async function endHeartbeats(db: Db): Promise<void> {
  await db.execute(
    sql`update pgboss.job set heartbeat_on = '-infinity' where state = 'active' and heartbeat_on is not null`,
  );
}

function inTransaction(tx: Db): ReturnType<typeof fromDrizzle> {
  const { executeSql } = fromDrizzle({ execute: (query) => executeRows(tx, query) }, sql);
  return { executeSql: (text, values) => executeSql(text, values?.map(toParameter)) };
}

// Drizzle keeps the driver from turning objects into JSON, which pg-boss counts on.
function toParameter(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value;
}

async function executeRows(tx: Db, query: unknown): Promise<{ rows: unknown[] }> {
  if (!is(query, SQL)) throw new TypeError("Cannot execute what is no statement");
  return { rows: [...rowsOf(await tx.execute(query))] };
}

const settledSchema = z.object({ settled: z.array(z.string()) });

// pg-boss gives the ids, but does not declare them.
function settledIds(response: object): ReadonlySet<string> {
  return new Set(settledSchema.parse(response).settled);
}

/** The rows of a job whose attempt this still is. */
function held(queue: QueueName, job: TakenJob): SQL {
  return sql`name = ${queue} and id = ${job.id}::uuid and state = 'active' and retry_count = ${job.retryCount}::integer`;
}

function attempts(jobs: readonly TakenJob[]): { id: string; retryCount: number }[] {
  return jobs.map(({ id, retryCount }) => ({ id, retryCount }));
}
