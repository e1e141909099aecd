import { z } from "zod";
import type { OwnedKey } from "../../db/backtests.ts";
import type { BACKTEST_STATUSES } from "../../db/schema.ts";
import { AppError } from "../errors.ts";
import { awaitFinal, followRecord } from "./follow_record.ts";
import { integerSchema } from "../paging.ts";
import type { Context, User } from "../trpc.ts";

// For callers that cannot leave.
const NEVER = new AbortController().signal;
const WAIT_SECONDS_MAX = 30;

/** `wait` of a request for a record: for its end, at most so many seconds. */
export const waitShape = { wait: integerSchema.pipe(z.int().min(0).max(WAIT_SECONDS_MAX)).default(0) };

/** A record that waits, runs and ends. */
interface Job extends OwnedKey {
  readonly status: (typeof BACKTEST_STATUSES)[number];
}

/** A kind of records that clients follow. */
interface Kind<Row extends Job> {
  /** As in messages: "the backtest". */
  readonly name: string;
  /** Calls back after each change by any process, see followRecord(). */
  watch(ctx: Context, id: string, onChange: () => void, onEnd: () => void): Promise<() => void>;
  read(ctx: Context, key: OwnedKey): Promise<Row | null>;
  notFound(id: string): AppError;
  /** The least time between two answers, in milliseconds; absent: workers report no more often than clients want. */
  readonly paceMs?: number;
}

/** True if a record is final. */
export function hasEnded({ status }: Pick<Job, "status">): boolean {
  return status !== "queued" && status !== "running";
}

/** The ways to follow a kind of records. */
export class RecordFollower<Row extends Job> {
  readonly #kind: Kind<Row>;

  constructor(kind: Kind<Row>) {
    this.#kind = kind;
  }

  /**
   * One of the caller's records; with `waitSeconds`, once it has ended, or after so many seconds.
   *
   * @param signal Ends the wait.
   * @throws AppError That of the kind where the caller has none of that id.
   */
  async get(
    ctx: Context & { readonly user: User },
    id: string,
    waitSeconds = 0,
    signal: AbortSignal = NEVER,
  ): Promise<Row> {
    const key = { id, ownerId: ctx.user.id };
    // An id that is no UUID does not exist, like any other unknown one.
    const isKnown = z.uuid().safeParse(id).success;
    const read = () => waitSeconds === 0 ? this.#kind.read(ctx, key) : this.#awaitEnd(ctx, key, waitSeconds, signal);
    const row = isKnown ? await read() : null;
    if (row === null) throw this.#kind.notFound(id);
    return row;
  }

  /**
   * A record now, and again after each change by any process. Ends when the record is final or deleted, the signal is aborted, or the
   * service closes.
   */
  follow(ctx: Context, key: OwnedKey, signal: AbortSignal = NEVER): AsyncGenerator<Row> {
    const { paceMs = 0 } = this.#kind;
    return followRecord<Row>({
      watch: (onChange, onEnd) => this.#kind.watch(ctx, key.id, onChange, onEnd),
      read: () => this.#kind.read(ctx, key),
      hasEnded,
      paceMs,
    }, AbortSignal.any([signal, ctx.closing]));
  }

  /**
   * As follow(), of one of the caller's records, for clients that take the end of the stream for the end of the record.
   *
   * @throws AppError UNAVAILABLE when the service closes first, and that of the kind when there is no record or it is deleted.
   */
  async *followToEnd(
    ctx: Context & { readonly user: User },
    id: string,
    signal: AbortSignal = NEVER,
  ): AsyncGenerator<Row> {
    let last = await this.get(ctx, id);
    for await (const each of this.follow(ctx, last, signal)) yield last = each;
    if (hasEnded(last) || signal.aborted) return;
    if (!ctx.closing.aborted) throw this.#kind.notFound(id);
    const message = `Cannot follow ${this.#kind.name} ${id}: the service is closing`;
    throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
  }

  async #awaitEnd(ctx: Context, key: OwnedKey, waitSeconds: number, signal: AbortSignal): Promise<Row | null> {
    return await awaitFinal<Row>({
      follow: (stop) => this.follow(ctx, key, stop),
      read: () => this.#kind.read(ctx, key),
      hasEnded,
      waitMs: waitSeconds * 1000,
      signal: AbortSignal.any([signal, ctx.closing]),
    });
  }
}

/**
 * Server-sent events of a record that is followed: `status`, `progress`, and `end` with the final one.
 *
 * @param show The event's id and its data.
 */
export async function* toRecordEvents<Row extends Job, Data>(
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
