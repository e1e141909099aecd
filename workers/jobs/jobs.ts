import { getLogger } from "@logtape/logtape";
import { type SQL, sql } from "drizzle-orm";
import { type JobWithMetadata, PgBoss } from "pg-boss";
import { z } from "zod";
import type { DatabaseHandle, Db } from "../../db/client.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import { createQueues, MONITOR_SECONDS, type QueueName, QUEUES, RETRY_LIMITS } from "./queues.ts";
import { connectBoss, inTransaction } from "./boss_database.ts";
import { Changes } from "./changes.ts";
import { traceSend } from "../telemetry.ts";

const log = getLogger(["hindcast", "queue"]);

/** A job that this process has taken. `id` is the record's id too; `retryCount` names the attempt. */
export interface TakenJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
  /** The user whose job it is; null for the service's own. */
  readonly ownerId: string | null;
  /** So many workers died while they held it that it may be the reason. */
  readonly isSuspect: boolean;
  /** It has yielded before, and yields no more. */
  readonly isSettled: boolean;
}

// How often a job may be taken again. The cost of an attempt depends on its end:
// - its worker died: one. The job may be the reason or a bystander; after ten deaths it is the reason.
// - it failed while its worker lived on: four. The reason is the job's own, and a fourth attempt would fail like three before.
// - it was given back, because its worker closes, the database failed, or another user waits: none. Giving back raises the job's limit.
const FAILURE_COST = 4;
// After so many deaths a job is a suspect. A process holds one suspect at a time: a job that kills its workers would otherwise meet the same
// bystanders at each attempt, and use up theirs with its own.
const SUSPECT_DEATHS = 3;
const SUSPECT_DELAY_SECONDS = 2;
// New jobs have priorities up to 0. Jobs that were given back come first.
const GIVEN_BACK_PRIORITY = 1;
// A backtest that yielded is the first to get a free place, and keeps that one: so it ends, whoever waits. A module check that yielded is the
// last, since its request gives up within seconds.
const SETTLED_PRIORITY = 2;
const LAST_PRIORITY = -1_000_000_000;
// The name of the database sessions of processes that take backtests, and the longest silence of such a process, several times the usual.
const WORKER_NAME = "hindcast-worker";
const WORKER_SILENCE_SECONDS = 15;

/**
 * pg-boss's jobs in the database of the records, so that one transaction writes both.
 *
 * Every method that ends a job takes a transaction and is fenced by the attempt: it changes nothing once another worker has the job.
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
   * @param isWorker Tells other processes that this one takes backtests.
   */
  static async open(handle: DatabaseHandle, runSecondsMax: number, isWorker = false): Promise<Jobs> {
    const { disconnect, ...connection } = connectBoss(handle, isWorker ? WORKER_NAME : "hindcast-queue");
    const boss = new PgBoss({
      ...connection,
      schedule: true,
      // Nothing here depends on other jobs: no need to look for those often.
      flowIntervalSeconds: 3600,
      superviseIntervalSeconds: MONITOR_SECONDS,
      monitorIntervalSeconds: MONITOR_SECONDS,
      // A long queue needs no warning.
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

  /**
   * Writes a job in the caller's transaction, under the record's id.
   *
   * @param options `ownerId`: the user whose job it is; `priority`: higher ones are taken first.
   */
  async send(
    tx: Db,
    queue: QueueName,
    id: string,
    data: object,
    { ownerId, priority = 0 }: { readonly ownerId?: string; readonly priority?: number } = {},
  ): Promise<void> {
    const group = ownerId === undefined ? {} : { group: { id: ownerId } };
    const sent = await traceSend(
      queue,
      id,
      (carried) => this.#boss.send(queue, { ...data, ...carried }, { id, priority, ...group, db: inTransaction(tx) }),
    );
    if (sent === null) throw new Error(`Cannot queue ${id}: the queue ${queue} has a job of that id already`);
    await this.changes.notify(tx, [`queue ${queue}`]);
  }

  /** Takes up to `count` jobs, those of the highest priority first and of these the oldest. */
  async take(queue: QueueName, count: number): Promise<TakenJob[]> {
    const jobs = await this.#boss.fetch<unknown>(queue, { batchSize: count, includeMetadata: true });
    return jobs.map((job) => toTaken(queue, job));
  }

  /**
   * Takes the next job of a user who is not one of `ownerIds`. Jobs that yielded wait for take(), and so do all others of their users, who
   * would otherwise get place after place for a share each.
   */
  async takeOther(queue: QueueName, ownerIds: readonly string[]): Promise<TakenJob[]> {
    const yielded = rowsOf(
      await this.#db.execute(sql`
        select distinct group_id as owner from pgboss.job
        where name = ${queue} and state < 'active' and priority in (${SETTLED_PRIORITY}, ${LAST_PRIORITY})`),
    ).map((row) => String(Object(row).owner));
    const priorities = { minPriority: LAST_PRIORITY + 1, maxPriority: GIVEN_BACK_PRIORITY };
    const others = {
      ignoreGroups: [...ownerIds, ...yielded],
      ...priorities,
      batchSize: 1,
      includeMetadata: true as const,
    };
    const jobs = await this.#boss.fetch<unknown>(queue, others);
    return jobs.map((job) => toTaken(queue, job));
  }

  /** Keeps up the heartbeats of jobs. @returns The ids of those that this process still holds. */
  async touch(queue: QueueName, jobs: readonly TakenJob[]): Promise<ReadonlySet<string>> {
    return settledIds(await this.#boss.touch(queue, attempts(jobs)));
  }

  /** Completes jobs. */
  async complete(tx: Db, queue: QueueName, jobs: readonly TakenJob[]): Promise<void> {
    if (jobs.length > 0) await this.#boss.complete(queue, attempts(jobs), null, { db: inTransaction(tx) });
  }

  /** Ends an attempt that failed by itself: the job is tried again a moment later, or goes to `dead` after its last attempt. */
  async fail(tx: Db, queue: QueueName, job: TakenJob, reason: string): Promise<void> {
    await tx.execute(
      sql`update pgboss.job set retry_limit = retry_limit - ${FAILURE_COST - 1}::integer where ${held(queue, job)}`,
    );
    await this.#boss.fail(queue, attempts([job]), { reason }, { db: inTransaction(tx) });
    await this.changes.notify(tx, [`queue ${QUEUES.dead}`]);
  }

  /**
   * Gives a job back unfinished, to the front of its queue and without counting the attempt.
   *
   * The number of the attempt is the fence, so it goes on counting: pg-boss's own operations would begin at 0 again, and the worker of an
   * old attempt could end a new one.
   *
   * @param reason `yield`: another user's job takes its place.
   */
  async giveBack(
    tx: Db,
    queue: QueueName,
    job: TakenJob,
    { reason, delaySeconds = 0 }: { readonly reason?: "yield"; readonly delaySeconds?: number } = {},
  ): Promise<void> {
    const yielded = queue === QUEUES.checks ? LAST_PRIORITY : SETTLED_PRIORITY;
    const priority = reason === "yield" ? sql`${yielded}` : sql`greatest(priority, ${GIVEN_BACK_PRIORITY})`;
    await tx.execute(sql`
      update pgboss.job
      set state = 'retry', retry_limit = retry_limit + 1, priority = ${priority}::integer, heartbeat_on = null,
        start_after = now() + ${delaySeconds}::integer * interval '1 second'
      where ${held(queue, job)}`);
    await this.changes.notify(tx, [`queue ${queue}`]);
  }

  /** Gives a suspect back for a moment, since this process holds another. */
  async postpone(queue: QueueName, job: TakenJob): Promise<void> {
    await this.giveBack(this.#db, queue, job, { delaySeconds: SUSPECT_DELAY_SECONDS });
  }

  /** Ends a job, taken or not: later calls of its worker change nothing. */
  async cancel(tx: Db, queue: QueueName, id: string): Promise<void> {
    await this.#boss.deleteJob(queue, id, { db: inTransaction(tx) });
  }

  /** The schedules of a queue: cron expressions by key. */
  async listSchedules(queue: QueueName): Promise<ReadonlyMap<string, string>> {
    const schedules = await this.#boss.getSchedules(queue);
    return new Map(schedules.map(({ key, cron }) => [key, cron]));
  }

  /** Sends a job at each time of the cron expression, in UTC; once for all processes. */
  async schedule(
    queue: QueueName,
    key: string,
    { cron, data }: { readonly cron: string; readonly data: object },
  ): Promise<void> {
    await this.#boss.schedule(queue, cron, data, { key, tz: "UTC" });
  }

  async unschedule(queue: QueueName, key: string): Promise<void> {
    await this.#boss.unschedule(queue, key);
  }

  /** @throws When the queue's tables cannot be reached. */
  async check(): Promise<void> {
    await this.#boss.getQueue(QUEUES.backtests);
  }

  /**
   * Whether any process on this PostgreSQL takes backtests, by the server's list of sessions: a worker asks for jobs every few seconds, and
   * a dead, frozen or disconnected one does not. (The last activity of another role's session is hidden.)
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

/**
 * Lets the next monitor pass find the jobs of the last process at once: an embedded database belongs to one process, so jobs that are held
 * when it opens are a dead process's.
 */
async function endHeartbeats(db: Db): Promise<void> {
  await db.execute(
    sql`update pgboss.job set heartbeat_on = '-infinity' where state = 'active' and heartbeat_on is not null`,
  );
}

const settledSchema = z.object({ settled: z.array(z.string()) });

// pg-boss answers with the ids, but does not declare them.
function settledIds(response: object): ReadonlySet<string> {
  return new Set(settledSchema.parse(response).settled);
}

/** The row of a job while this attempt is its last. */
function held(queue: QueueName, job: TakenJob): SQL {
  return sql`name = ${queue} and id = ${job.id}::uuid and state = 'active' and retry_count = ${job.retryCount}::integer`;
}

function toTaken(queue: QueueName, job: JobWithMetadata<unknown>): TakenJob {
  const { id, retryCount, retryLimit, data, groupId = null, priority } = job;
  const deaths = retryCount + RETRY_LIMITS[queue] - retryLimit;
  const isSuspect = deaths >= SUSPECT_DEATHS;
  return { id, retryCount, data, ownerId: groupId, isSuspect, isSettled: priority === SETTLED_PRIORITY };
}

function attempts(jobs: readonly TakenJob[]): { id: string; retryCount: number }[] {
  return jobs.map(({ id, retryCount }) => ({ id, retryCount }));
}
