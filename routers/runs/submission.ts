import { AsyncLocalStorage } from "node:async_hooks";
import { v7 as uuidv7 } from "uuid";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { Batcher } from "../../db/batcher.ts";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault } from "../../db/faults.ts";
import { lockUser, type Usage } from "../../db/quotas.ts";
import type { NamedSubmission, OwnedKey, RunRow } from "../../db/runs.ts";
import type { Quotas } from "../../db/schema.ts";
import { inUnit } from "../../db/unit_of_work.ts";
import { traceStep } from "../../workers/common/telemetry.ts";
import { requireRoomForRuns } from "../common/quotas.ts";
import type { Context, UserContext } from "../common/trpc.ts";
import { idempotencyConflict, nameSubmission } from "./run_request.ts";
import type { Runs } from "./runs.ts";

type Services = Pick<Context, "db" | "queue" | "quotas">;

/** A record that is to be written, with its job. */
interface NewRun extends OwnedKey {
  readonly queuePosition: number;
  readonly submission: NamedSubmission | null;
}

/** A kind of runs, as users submit them. @typeParam Plan A request, checked and completed. */
interface RunSubmission<Row extends RunRow, Request extends object, Plan> {
  readonly runs: Runs<Row>;
  /** The most runs of a user that may wait or run. */
  unendedMax(quotas: Quotas): number;
  /** The most submissions of a user that share a transaction. */
  readonly batchMax: number;
  /** @throws AppError for a request that cannot be run; nothing is stored then. */
  plan(ctx: UserContext, request: Request): Promise<Plan>;
  /** About how many bytes a record has before it runs. */
  measure(plan: Plan): number;
  /** Counts a user's runs and bytes; default: by the records and the jobs. @param unendedMax With those that are submitted. */
  readUsage?(tx: Db, ownerId: string, unendedMax: number): Promise<Usage>;
  /** Refuses what the user has no room for, and writes what the record needs. @param tx Holds the user's lock. */
  admit(tx: Db, services: Services, ownerId: string, plan: Plan): Promise<void>;
  /** Writes the record and adds its bytes to the user's, in statements that are sent at once. */
  insert(tx: Db, run: NewRun, plan: Plan): Promise<Row>;
}

/** A submission that was checked, and a function that continues its request's trace. */
interface Waiting<Plan> {
  readonly submission: NamedSubmission | null;
  readonly plan: Plan;
  readonly inRequest: <Answer>(work: () => Answer) => Answer;
}

interface Batches<Row, Plan> {
  readonly batcher: Batcher<Waiting<Plan>, Row>;
  waiting: number;
}

// A connection that is lost during a commit does not tell whether it succeeded: another attempt could store all of them twice.
const wasRolledBack = (error: unknown) => !isDatabaseFault(error);

export class RunSubmitter<Row extends RunRow, Request extends object, Plan> {
  readonly #kind: RunSubmission<Row, Request, Plan>;
  /** Users' submissions on their way, by database and user. */
  readonly #batches = new WeakMap<Db, Map<string, Batches<Row, Plan>>>();

  constructor(kind: RunSubmission<Row, Request, Plan>) {
    this.#kind = kind;
  }

  /**
   * Checks a run and queues it: record and job are written together. A request that came before with the same Idempotency-Key gets the
   * record of that time.
   *
   * @throws AppError for a request that cannot be run, QUOTA_EXCEEDED, IDEMPOTENCY_CONFLICT; nothing is stored then.
   */
  async submit(ctx: UserContext, request: Request): Promise<Row> {
    const submission = nameSubmission(ctx.user.id, ctx.idempotencyKey, request);
    const earlier = await this.#findEarlier(ctx.db, submission);
    if (earlier !== null) return earlier;
    const plan = await this.#kind.plan(ctx, request);
    return await traceStep("submit", () => this.#storeTogether(ctx, submission, plan));
  }

  /** Stores a submission. Those of one user that come meanwhile share the next transaction instead of waiting for each other's commits. */
  async #storeTogether(ctx: UserContext, submission: NamedSubmission | null, plan: Plan): Promise<Row> {
    const { db, queue, quotas, user } = ctx;
    const users = this.#batches.get(db) ?? new Map<string, Batches<Row, Plan>>();
    this.#batches.set(db, users);
    // A named one is alone, because two of one name must find each other.
    const key = JSON.stringify([user.id, submission?.key]);
    const store = (some: readonly Waiting<Plan>[]) => this.#storeAll({ db, queue, quotas }, user.id, some);
    const batches = users.get(key) ?? { batcher: new Batcher(store, this.#kind.batchMax, wasRolledBack), waiting: 0 };
    users.set(key, batches);
    batches.waiting++;
    try {
      return await batches.batcher.add({ submission, plan, inRequest: AsyncLocalStorage.snapshot() });
    } finally {
      if (--batches.waiting === 0) users.delete(key);
    }
  }

  /** Stores one user's submissions. @throws Where one of them may not be stored; the batcher then tries each alone. */
  async #storeAll(services: Services, ownerId: string, all: readonly Waiting<Plan>[]): Promise<Row[]> {
    const { runs, unendedMax, measure, admit, insert } = this.#kind;
    const { db, queue, quotas } = services;
    return await inUnit(db, async (unit) => {
      const { tx } = unit;
      const most = unendedMax(quotas);
      // The lock comes first.
      const [, twin, usage] = await Promise.all([
        lockUser(tx, ownerId),
        // The same submission may have been stored since the first look.
        this.#findEarlier(tx, all[0]?.submission ?? null),
        this.#readUsage(tx, services, ownerId, most - (all.length - 1)),
      ]);
      if (twin !== null) return [twin];
      const bytes = usage.bytes + all.slice(1).reduce((sum, { plan }) => sum + measure(plan), 0);
      const firstPosition = requireRoomForRuns(runs.noun, { ...usage, bytes }, most, quotas);
      for (const { plan } of all) await admit(tx, services, ownerId, plan);
      const written = all.map(({ submission, plan, inRequest }, index) =>
        inRequest(async () => {
          const run = { id: uuidv7(), ownerId, queuePosition: firstPosition + index, submission };
          const [row] = await Promise.all([
            insert(tx, run, plan),
            queue.enqueue(tx, runs.records.kind, run, run.queuePosition),
          ]);
          return row;
        })
      );
      return await unit.last(Promise.all(written));
    });
  }

  async #readUsage(tx: Db, { queue }: Services, ownerId: string, unendedMax: number): Promise<Usage> {
    if (this.#kind.readUsage !== undefined) return await this.#kind.readUsage(tx, ownerId, unendedMax);
    const { records } = this.#kind.runs;
    const [bytes, unended, queuePosition] = await Promise.all([
      measureBacktests(tx, ownerId),
      records.countUnended(tx, ownerId),
      queue.nextPosition(tx, records.kind, ownerId),
    ]);
    return { bytes, queuePosition: unended < unendedMax ? queuePosition : null };
  }

  /**
   * The record that the same submission made before; null for a submission without a name.
   *
   * @throws AppError IDEMPOTENCY_CONFLICT when the key was used for another request.
   */
  async #findEarlier(db: Db, submission: NamedSubmission | null): Promise<Row | null> {
    if (submission === null) return null;
    const found = await this.#kind.runs.records.findSubmission(db, submission);
    if (found === null || found.requestSha256 === submission.requestSha256) return found;
    throw idempotencyConflict(submission.key);
  }
}
