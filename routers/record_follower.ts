import type { OwnedKey } from "../db/backtests.ts";
import type { BACKTEST_STATUSES } from "../db/schema.ts";
import { AppError } from "./errors.ts";
import { awaitFinal, followRecord } from "./follow_record.ts";
import type { Context } from "./trpc.ts";

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
   * A record now, and again after each change by any process. Ends when the record is final or deleted, the signal is aborted, or the
   * service closes.
   */
  follow(ctx: Context, key: OwnedKey, signal: AbortSignal): AsyncGenerator<Row> {
    const { paceMs = 0 } = this.#kind;
    return followRecord<Row>({
      watch: (onChange, onEnd) => this.#kind.watch(ctx, key.id, onChange, onEnd),
      read: () => this.#kind.read(ctx, key),
      hasEnded,
      paceMs,
    }, AbortSignal.any([signal, ctx.closing]));
  }

  /**
   * As follow(), for clients that take the end of the stream for the end of the record.
   *
   * @throws AppError UNAVAILABLE when the service closes first, and that of the kind when the record is deleted.
   */
  async *followToEnd(ctx: Context, row: Row, signal: AbortSignal): AsyncGenerator<Row> {
    let last = row;
    for await (const each of this.follow(ctx, row, signal)) yield last = each;
    if (hasEnded(last) || signal.aborted) return;
    if (!ctx.closing.aborted) throw this.#kind.notFound(row.id);
    const message = `Cannot follow ${this.#kind.name} ${row.id}: the service is closing`;
    throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
  }

  /**
   * Waits until a record is final, at most `waitMs`, or until the signal is aborted.
   *
   * @returns The record now; null if it was deleted.
   */
  async awaitEnd(ctx: Context, key: OwnedKey, waitMs: number, signal: AbortSignal): Promise<Row | null> {
    return await awaitFinal<Row>({
      follow: (stop) => this.follow(ctx, key, stop),
      read: () => this.#kind.read(ctx, key),
      hasEnded,
      waitMs,
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
