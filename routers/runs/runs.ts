import { z } from "zod";
import { subtractSizes } from "../../db/backtest_sizes.ts";
import type { Db } from "../../db/client.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import type { OwnedKey, RunRecords, RunRow } from "../../db/runs.ts";
import { AppError, type ErrorCode, quote } from "../common/errors.ts";
import { integerSchema } from "../common/paging.ts";
import type { Context, UserContext } from "../common/trpc.ts";
import { awaitFinal, followRecord } from "./follow_record.ts";

// For callers that cannot leave.
const NEVER = new AbortController().signal;
/** Most seconds that a request waits: proxies close silent ones after a minute. */
export const WAIT_SECONDS_MAX = 30;

// Any text is looked up: an id that is no UUID does not exist, like any other unknown id.
export const idSchema = z.string().max(100);

/** `wait` of a request for a record: the most seconds to wait for its end. */
export const waitShape = { wait: integerSchema.pipe(z.int().min(0).max(WAIT_SECONDS_MAX)).default(0) };

/** The refusal of a stream that the service ends before its time. */
export function isClosing(followed: string): AppError {
  return new AppError("UNAVAILABLE", `Cannot follow ${followed}: the service is closing`, { retryAfterSeconds: 1 });
}

/** True if a record is final. */
function hasEnded({ status }: Pick<RunRow, "status">): boolean {
  return status !== "queued" && status !== "running";
}

/** A kind of runs, as their owners find, follow, cancel and delete them. */
export class Runs<Row extends RunRow> {
  readonly records: RunRecords<Row>;
  readonly #check: (row: Row) => unknown;
  /** The noun of messages: "backtest". */
  readonly noun: string;
  readonly #notFound: ErrorCode;
  readonly #paceMs: number;
  /** Reads that have not begun yet, by database and record. */
  readonly #pendingReads = new WeakMap<Db, Map<string, Promise<Row | null>>>();

  /**
   * @param options `notFound`: the code for an id that the caller has no record of; `check`: throws for a record that this build cannot
   * read; `paceMs`: the least time between two changes that
   * a follower gets, absent where workers report no more often than clients want.
   */
  constructor(
    records: RunRecords<Row>,
    { notFound, check, paceMs = 0 }: {
      readonly notFound: ErrorCode;
      readonly check: (row: Row) => unknown;
      readonly paceMs?: number;
    },
  ) {
    this.records = records;
    this.noun = RUN_KINDS[records.kind].noun;
    this.#notFound = notFound;
    this.#check = check;
    this.#paceMs = paceMs;
  }

  /** The refusal of an id that the caller has no record of. */
  notFound(id: string): AppError {
    return new AppError(this.#notFound, `Cannot find the ${this.noun} ${quote(id)}`);
  }

  /** The id, if there may be a record of it. @throws AppError That of notFound(). */
  requireKnownId(id: string): string {
    if (!z.uuid().safeParse(id).success) throw this.notFound(id);
    return id;
  }

  /** One user's record, whose shape was checked. @throws AppError That of notFound(). @throws {UnreadableRecord} */
  async find(db: Db, id: string, ownerId: string): Promise<Row> {
    const row = await this.#read(db, id, ownerId);
    this.#check(row);
    return row;
  }

  async #read(db: Db, id: string, ownerId: string): Promise<Row> {
    const row = await this.records.get(db, { id: this.requireKnownId(id), ownerId });
    if (row === null) throw this.notFound(id);
    return row;
  }

  /**
   * One of the caller's records; with `waitSeconds`, once it has ended, or after them.
   *
   * @param signal Ends the wait.
   * @throws AppError That of notFound().
   */
  async get({ db, user, ...ctx }: UserContext, id: string, waitSeconds = 0, signal = NEVER): Promise<Row> {
    // The caller checks it before it shows it.
    if (waitSeconds === 0) return await this.#read(db, id, user.id);
    const key = { id: this.requireKnownId(id), ownerId: user.id };
    const row = await awaitFinal<Row>({
      follow: (stop) => this.follow({ db, ...ctx }, key, stop),
      read: () => this.#readShared(db, key),
      hasEnded,
      waitMs: waitSeconds * 1000,
      signal: AbortSignal.any([signal, ctx.closing]),
    });
    if (row === null) throw this.notFound(id);
    return row;
  }

  /**
   * A record now, and again after each change by any process. Ends when the record is final or deleted, the signal is aborted, or the
   * service closes.
   */
  follow(
    { db, queue, closing }: Pick<Context, "db" | "queue" | "closing">,
    key: OwnedKey,
    signal = NEVER,
  ): AsyncGenerator<Row> {
    return followRecord<Row>({
      watch: (onChange, onEnd) => queue.watch(this.records.kind, key.id, onChange, onEnd),
      read: () => this.#readShared(db, key),
      hasEnded,
      paceMs: this.#paceMs,
    }, AbortSignal.any([signal, closing]));
  }

  /**
   * Like follow(), of one of the caller's records, for clients that take the end of the stream for the end of the record.
   *
   * @throws AppError UNAVAILABLE when the service closes first, and that of notFound() when there is no record or it is deleted.
   */
  async *followToEnd(ctx: UserContext, id: string, signal = NEVER): AsyncGenerator<Row> {
    let last = await this.get(ctx, id);
    for await (const each of this.follow(ctx, last, signal)) yield last = each;
    if (hasEnded(last) || signal.aborted) return;
    if (!ctx.closing.aborted) throw this.notFound(id);
    throw isClosing(`the ${this.noun} ${id}`);
  }

  /** Cancels one of the caller's records. @throws AppError That of notFound(), NOT_CANCELLABLE */
  async cancel({ db, queue, user }: UserContext, id: string): Promise<Row> {
    const { id: known, ownerId } = await this.find(db, id, user.id);
    const key = { id: known, ownerId };
    return await db.transaction(async (tx: Db) => {
      // The record before its jobs, as where workers store an outcome: the other order could deadlock with it.
      const isCancelled = await this.records.cancel(tx, key);
      const row = await this.records.get(tx, key);
      await queue.dequeue(tx, this.records.kind, key);
      if (isCancelled && row !== null) return row;
      const status = row?.status ?? "gone";
      throw new AppError("NOT_CANCELLABLE", `Cannot cancel the ${this.noun} ${known}: it is already ${status}`);
    });
  }

  /** Removes one of the caller's records, running or not, with all that belongs to it. @throws AppError That of notFound(). */
  async delete({ db, queue, user }: UserContext, id: string): Promise<void> {
    // A record that cannot be read can be removed.
    const row = await this.#read(db, id, user.id);
    await db.transaction(async (tx: Db) => {
      // The record before its jobs, as in cancel(); the storage totals last.
      const removed = await this.records.remove(tx, row);
      await queue.dequeue(tx, this.records.kind, row);
      await subtractSizes(tx, removed);
    });
  }

  /** Reads a record. All followers of it learn of a change at once, and share one read. */
  #readShared(db: Db, key: OwnedKey): Promise<Row | null> {
    const waiting = this.#pendingReads.get(db) ?? new Map<string, Promise<Row | null>>();
    this.#pendingReads.set(db, waiting);
    const name = `${key.ownerId} ${key.id}`;
    const shared = waiting.get(name) ?? Promise.resolve().then(() => {
      waiting.delete(name);
      return this.records.get(db, key);
    });
    waiting.set(name, shared);
    return shared;
  }
}

/**
 * Server-sent events of a record that is followed: `status`, `progress`, and `end` with the final one.
 *
 * @param show The event's id and its data.
 */
export async function* toRecordEvents<Row extends RunRow, Data>(
  rows: AsyncGenerator<Row>,
  show: (row: Row) => { readonly id: string; readonly data: Data },
) {
  let status = "";
  for await (const row of rows) {
    const event = hasEnded(row) ? "end" : row.status === status ? "progress" : "status";
    status = row.status;
    yield { event, ...show(row) };
  }
}
