import { getLogger } from "@logtape/logtape";
import { type SQL, sql } from "drizzle-orm";
import { type JobWithMetadata, PgBoss } from "pg-boss";
import { z } from "zod";
import type { DatabaseHandle, Db } from "../../db/client.ts";
import { rowsOf } from "../../db/answer_rows.ts";
import { ownSchemaVersion } from "../../db/schema_version.ts";
import { connectBoss, endHeartbeats, inTransaction } from "./boss_database.ts";
import { Changes } from "./changes.ts";
import { createQueues, MONITOR_SECONDS, type QueueName, QUEUES, retryLimitOf } from "./queues.ts";
import { traceSend } from "../common/telemetry.ts";
import { FaultLog } from "./fault_log.ts";

const log = getLogger(["hindcast", "queue"]);
const faults = new FaultLog((message, properties) => log.error(message, properties));

/** A job that this process has taken. `id` is the record's id too; `retryCount` names the attempt. */
export interface TakenJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
  /** True if the deaths of workers that held the job make it a suspect. */
  readonly isSuspect: boolean;
}

// The retries of a job. The end of an attempt decides its cost:
// - its worker died: one. The job may be a bystander; after ten deaths it hardly is.
// - it failed while its worker lived on: four. The cause is the job itself, so a third attempt would fail too.
// - it was given back, because its worker closes, the database failed or it made way: nothing. Giving back raises the job's own limit
//   by one.
const FAILURE_COST = 4;
// After this many deaths a job is a suspect. A process holds one suspect at a time: otherwise a job that kills its workers would use
// up the attempts of the same bystanders each time.
const SUSPECT_DEATHS = 3;
const SUSPECT_DELAY_SECONDS = 2;
// New jobs have priorities up to 0. A job that was given back comes before new ones, and a job that made way comes first.
const GIVEN_BACK_PRIORITY = 1;
const MADE_WAY_PRIORITY = 2;
// The `application_name` of sessions that take backtests begins so and ends with the version of the schema: after another version's
// migration a process takes none. A live process is silent for a fraction of the longest silence.
const WORKER_NAME = "hindcast-worker/";
const WORKER_SILENCE_SECONDS = 15;

/**
 * This service's use of pg-boss. The jobs are in the same database as the records, so one transaction writes both.
 *
 * Every call that ends a job takes a transaction and is fenced by the attempt: it changes nothing once another worker has the job.
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
   * @param isWorker Whether this process takes backtests; findWorker() of other processes then finds it.
   */
  static async open(handle: DatabaseHandle, runSecondsMax: number, isWorker = false): Promise<Jobs> {
    const name = isWorker ? `${WORKER_NAME}${ownSchemaVersion()}` : "hindcast-queue";
    const { disconnect, ...connection } = connectBoss(handle, name);
    const boss = new PgBoss({
      ...connection,
      schedule: true,
      // No job of ours depends on another, so pg-boss need not look for such jobs often.
      flowIntervalSeconds: 3600,
      superviseIntervalSeconds: MONITOR_SECONDS,
      monitorIntervalSeconds: MONITOR_SECONDS,
      // Thousands of waiting backtests are normal: warn only about absurd queues.
      warningQueueSize: 1_000_000,
    });
    boss.on("error", (error) => faults.report("The queue's database connection: {error}", { error }));
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
   * @param options `ownerId`: the user whose job it is; `priority`, up to 0: higher ones are taken first.
   */
  async send(
    tx: Db,
    queue: QueueName,
    id: string,
    data: object,
    { ownerId, priority = 0 }: { readonly ownerId?: string; readonly priority?: number } = {},
  ): Promise<void> {
    const group = ownerId === undefined ? {} : { group: { id: ownerId } };
    const [sent] = await Promise.all([
      inTransaction(
        tx,
        (db) =>
          traceSend(
            queue,
            id,
            (carried) => this.#boss.send(queue, { ...data, ...carried }, { id, priority, ...group, db }),
          ),
      ),
      this.changes.notify(tx, [`queue ${queue}`]),
    ]);
    if (sent === null) throw new Error(`Cannot queue ${id}: the queue ${queue} has a job of that id already`);
  }

  /** Takes up to `count` jobs: the highest priority first, then the oldest. */
  async take(queue: QueueName, count: number): Promise<TakenJob[]> {
    const jobs = await this.#boss.fetch<unknown>(queue, { batchSize: count, includeMetadata: true });
    return jobs.map((job) => toTaken(queue, job));
  }

  /** Takes the first job of the users who have none running in any process and none waiting that made way. */
  async takeForSpare(queue: QueueName): Promise<TakenJob[]> {
    const madeWay = rowsOf(
      await this.#db.execute(sql`
        select distinct group_id as owner from pgboss.job
        where name = ${queue} and state < 'active' and not blocked and priority = ${MADE_WAY_PRIORITY}::integer
          and group_id is not null`),
    );
    const jobs = await this.#boss.fetch<unknown>(queue, {
      batchSize: 1,
      includeMetadata: true,
      maxPriority: GIVEN_BACK_PRIORITY,
      groupConcurrency: 1,
      ignoreGroups: madeWay.map((row) => ownerSchema.parse(row).owner),
    });
    return jobs.map((job) => toTaken(queue, job));
  }

  /** Puts a held job before all others of its queue, for when it is given back. */
  async makeFirst(queue: QueueName, job: TakenJob): Promise<void> {
    await this.#db.execute(
      sql`update pgboss.job set priority = ${MADE_WAY_PRIORITY}::integer where ${held(queue, job)}`,
    );
  }

  /** Renews the heartbeats of jobs. @returns The ids of the jobs that this process still holds. */
  async touch(queue: QueueName, jobs: readonly TakenJob[]): Promise<ReadonlySet<string>> {
    return settledIds(await this.#boss.touch(queue, attempts(jobs)));
  }

  /**
   * Lets a held job go on with other work: no process need take another job for it, and a later attempt does the new work.
   *
   * @param data Joins the job's own.
   * @returns False if another worker has the job.
   */
  async goOn(tx: Db, queue: QueueName, job: TakenJob, data: object): Promise<boolean> {
    const going = await tx.execute(sql`
      update pgboss.job set data = data || ${JSON.stringify(data)}::jsonb, started_on = now()
      where ${held(queue, job)} returning id`);
    return rowsOf(going).length > 0;
  }

  /** Ends jobs as completed. */
  async complete(tx: Db, queue: QueueName, jobs: readonly TakenJob[]): Promise<void> {
    if (jobs.length === 0) return;
    await inTransaction(tx, (db) => this.#boss.complete(queue, attempts(jobs), null, { db }));
  }

  /** Ends an attempt that failed by itself: the job is retried a moment later, or becomes a dead job after its last attempt. */
  async fail(tx: Db, queue: QueueName, job: TakenJob, reason: string): Promise<void> {
    await tx.execute(
      sql`update pgboss.job set retry_limit = retry_limit - ${FAILURE_COST - 1}::integer where ${held(queue, job)}`,
    );
    await inTransaction(tx, (db) => this.#boss.fail(queue, attempts([job]), { reason }, { db }));
    await this.changes.notify(tx, [`queue ${QUEUES.dead}`]);
  }

  /**
   * Gives a job back unfinished, at the front of its queue and without counting the attempt.
   *
   * The numbers of attempts continue, because the number is the fence. pg-boss's own ways to give a job back start again at 0: a worker
   * of an old attempt could then end a new one.
   */
  async giveBack(tx: Db, queue: QueueName, job: TakenJob, delaySeconds = 0): Promise<void> {
    await tx.execute(sql`
      update pgboss.job
      set state = 'retry', retry_limit = retry_limit + 1, heartbeat_on = null,
        priority = greatest(priority, ${GIVEN_BACK_PRIORITY}::integer),
        start_after = now() + ${delaySeconds}::integer * interval '1 second'
      where ${held(queue, job)}`);
    await this.changes.notify(tx, [`queue ${queue}`]);
  }

  /** Gives a suspect back for a moment, because this process holds another. */
  async putOff(queue: QueueName, job: TakenJob): Promise<void> {
    await this.giveBack(this.#db, queue, job, SUSPECT_DELAY_SECONDS);
  }

  /** Removes a job, taken or not. If a worker holds it, the worker's later calls change nothing. */
  async cancel(tx: Db, queue: QueueName, id: string): Promise<void> {
    await inTransaction(tx, (db) => this.#boss.deleteJob(queue, id, { db }));
  }

  /**
   * The queue position of a user's next job, of which workers take lower ones first. It follows the user's own last waiting one, and is
   * not below the first waiting one: users are served in turn.
   *
   * @param tx Holds the user's lock or the lock of the record that the jobs belong to; two equal positions do no harm.
   */
  async nextPosition(tx: Db, queue: QueueName, ownerId: string): Promise<number> {
    const [row] = rowsOf(
      await tx.execute(sql`
        select coalesce(max(least(priority, 0) * -1) filter (where group_id = ${ownerId}), -1) + 1 as own,
          coalesce(min(least(priority, 0) * -1), 0) as first
        from pgboss.job where name = ${queue} and state < 'active'`),
    );
    const { own, first } = positionSchema.parse(row);
    return Math.max(own, first);
  }

  /** Removes the jobs of a record, taken or not. */
  async cancelAll(tx: Db, queue: QueueName, ownerId: string, key: string, id: string): Promise<void> {
    await tx.execute(
      sql`delete from pgboss.job where name = ${queue} and group_id = ${ownerId} and data ->> ${key}::text = ${id}`,
    );
  }

  /** The cron expressions of a queue's schedules, by key. */
  async listSchedules(queue: QueueName): Promise<ReadonlyMap<string, string>> {
    const schedules = await this.#boss.getSchedules(queue);
    return new Map(schedules.map(({ key, cron }) => [key, cron]));
  }

  /** Sends a job at each time of the cron expression, in UTC; once for all processes. */
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
   * True if any process on this PostgreSQL takes backtests. A worker looks for jobs every few seconds; a dead, frozen or disconnected
   * one falls silent, which the server's session table shows. The table hides the times of other roles' sessions: these count as alive.
   */
  async findWorker(): Promise<boolean> {
    const rows = rowsOf(
      await this.#db.execute(sql`
        select from pg_stat_activity where datname = current_database()
          and substring(application_name from ${`^${WORKER_NAME}([0-9]{1,6})$`})::integer >=
            (select count(*) from drizzle.__drizzle_migrations)
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

const positionSchema = z.object({ own: z.coerce.number(), first: z.coerce.number() });
const ownerSchema = z.object({ owner: z.string() });
const settledSchema = z.object({ settled: z.array(z.string()) });

// pg-boss returns the ids without declaring them.
function settledIds(response: object): ReadonlySet<string> {
  return new Set(settledSchema.parse(response).settled);
}

/** Selects the job if this is still its current attempt. */
function held(queue: QueueName, job: TakenJob): SQL {
  return sql`name = ${queue} and id = ${job.id}::uuid and state = 'active' and retry_count = ${job.retryCount}::integer`;
}

function toTaken(queue: QueueName, { id, retryCount, retryLimit, data }: JobWithMetadata<unknown>): TakenJob {
  const deaths = retryCount + retryLimitOf(queue) - retryLimit;
  return { id, retryCount, data, isSuspect: deaths >= SUSPECT_DEATHS };
}

function attempts(jobs: readonly TakenJob[]): { id: string; retryCount: number }[] {
  return jobs.map(({ id, retryCount }) => ({ id, retryCount }));
}
