/** The records of all kinds of runs: one way to read, list, count, cancel, fail and remove them. */
import { and, count, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { type Size, subtractSizes } from "./backtest_sizes.ts";
import type { Db } from "./client.ts";
import { storableText } from "./codec/storable.ts";
import { RUN_KINDS, type RunKindName, type RunTable } from "./run_kinds.ts";
import type { BACKTEST_STATUSES, optimizations } from "./schema.ts";

export type RunStatus = (typeof BACKTEST_STATUSES)[number];

/** The statuses of a run that waits or runs. */
export const UNENDED = ["queued", "running"] as const satisfies readonly RunStatus[];

/** A user's key to a record: it finds no other user's record. */
export interface OwnedKey {
  readonly id: string;
  readonly ownerId: string;
}

/** The columns that all kinds have. */
export interface RunRow extends OwnedKey {
  readonly status: RunStatus;
  readonly requestSha256: string | null;
}

/** The reason of a run that failed. */
export type RunFailure = NonNullable<(typeof optimizations.$inferSelect)["error"]>;

/** A submission and the key that its client gave it. */
export interface NamedSubmission {
  readonly ownerId: string;
  readonly key: string;
  /** The SHA-256 of the submission, hexadecimal. */
  readonly requestSha256: string;
}

/** How long a submission's key stands for its record: as long as a client may retry. */
const SUBMISSION_KEPT_MS = 24 * 3_600_000;

/** The conditions of a list; `where` is one of the kind's own. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  readonly where?: SQL | undefined;
}

/** The ways in which a kind's records differ from others. */
interface RunReads<Row> {
  /** The records that a condition selects, the newest first. */
  select(db: Db, where: SQL | undefined, limit: number): Promise<Row[]>;
  /** Default: by `select`. */
  get?(db: Db, key: OwnedKey): Promise<Row | null>;
  /** Removes what an unended run has left, with its end; default: nothing. */
  discardParts?(tx: Db, id: string): Promise<void>;
  /** Locks what must be locked before a record that is removed; default: nothing. */
  lockForRemoval?(tx: Db, row: Row): Promise<void>;
  /** Called with the bytes of a record that was removed; default: nothing. */
  afterRemoval?(tx: Db, row: Row, sizeBytes: number): Promise<void>;
}

export class RunRecords<Row extends RunRow> {
  readonly kind: RunKindName;
  readonly #table: RunTable;
  readonly #reads: RunReads<Row>;

  constructor(kind: RunKindName, reads: RunReads<Row>) {
    this.kind = kind;
    this.#table = RUN_KINDS[kind].table;
    this.#reads = reads;
  }

  /** One user's record; null if this user has none of that id. */
  async get(db: Db, key: OwnedKey): Promise<Row | null> {
    if (this.#reads.get !== undefined) return await this.#reads.get(db, key);
    const [row] = await this.#reads.select(db, this.#owned(key), 1);
    return row ?? null;
  }

  /** The newest record that a user submitted under a key within a day, as it is now; null if there is none. */
  async findSubmission(db: Db, { ownerId, key }: Pick<NamedSubmission, "ownerId" | "key">): Promise<Row | null> {
    const since = new Date(Date.now() - SUBMISSION_KEPT_MS);
    const table = this.#table;
    const where = and(eq(table.ownerId, ownerId), eq(table.idempotencyKey, key), gte(table.createdAt, since));
    const [row] = await this.#reads.select(db, where, 1);
    return row ?? null;
  }

  /** A page of a user's records, the newest first. @param page `after`: the last id that is known. */
  async list(
    db: Db,
    page: RunFilter & {
      readonly ownerId: string;
      readonly after?: string | undefined;
      readonly limit: number;
    },
  ): Promise<Row[]> {
    const { ownerId, status, after, where, limit } = page;
    const condition = and(
      eq(this.#table.ownerId, ownerId),
      status === undefined ? undefined : eq(this.#table.status, status),
      after === undefined ? undefined : lt(this.#table.id, after),
      where,
    );
    return await this.#reads.select(db, condition, limit);
  }

  /** How many of a user's records wait or run. */
  async countUnended(tx: Db, ownerId: string): Promise<number> {
    const [row] = await tx.select({ count: count() }).from(this.#table)
      .where(and(eq(this.#table.ownerId, ownerId), inArray(this.#table.status, UNENDED)));
    return row?.count ?? 0;
  }

  /** Cancels a queued or running record. @returns False if it has ended or this user has none of that id. */
  async cancel(tx: Db, key: OwnedKey): Promise<boolean> {
    return await this.#end(tx, this.#owned(key), { status: "cancelled" });
  }

  /** Fails a record that no worker can finish, at any attempt. @returns False if it has ended or is gone. */
  async fail(tx: Db, id: string, { code, message }: RunFailure): Promise<boolean> {
    const error = { code, message: storableText(message) };
    return await this.#end(tx, eq(this.#table.id, id), { status: "failed", error });
  }

  async #end(
    tx: Db,
    where: SQL | undefined,
    values: { readonly status: RunStatus; readonly error?: RunFailure },
  ): Promise<boolean> {
    const [row] = await tx.update(this.#table).set({ ...values, finishedAt: sql`now()` })
      .where(and(where, inArray(this.#table.status, UNENDED))).returning({ id: this.#table.id });
    if (row !== undefined) await this.#reads.discardParts?.(tx, row.id);
    return row !== undefined;
  }

  /**
   * Removes a record with all that belongs to it; nothing happens if it is gone.
   *
   * @returns The bytes that its owner gets back, for subtractSizes(): that locks the storage totals, so it comes last.
   */
  async remove(tx: Db, row: Row): Promise<readonly Size[]> {
    await this.#reads.lockForRemoval?.(tx, row);
    const removed = await tx.delete(this.#table).where(this.#owned(row)).returning(this.#size());
    for (const { sizeBytes } of removed) await this.#reads.afterRemoval?.(tx, row, sizeBytes);
    return removed;
  }

  /**
   * Removes records that ended before a moment, the oldest first, with all that belongs to them.
   *
   * @returns How many; fewer than `countMax` when no more are that old.
   */
  async removeEnded(db: Db, before: Date, countMax: number): Promise<number> {
    // An id holds the time of creation, which is before the end: the index of ids finds the old ones.
    const idBefore = uuidv7({ msecs: before.getTime(), seq: 0, random: new Uint8Array(16) });
    const { id, finishedAt } = this.#table;
    const old = db.select({ id }).from(this.#table)
      .where(and(lt(id, idBefore), lt(finishedAt, before))).orderBy(id).limit(countMax);
    return await db.transaction(async (tx: Db) => {
      const rows = await tx.delete(this.#table).where(inArray(id, old)).returning(this.#size());
      await subtractSizes(tx, rows);
      return rows.length;
    });
  }

  #owned(key: OwnedKey): SQL | undefined {
    return and(eq(this.#table.id, key.id), eq(this.#table.ownerId, key.ownerId));
  }

  #size() {
    return { ownerId: this.#table.ownerId, sizeBytes: this.#table.sizeBytes };
  }
}

/** The columns in which a record keeps its submission's name. */
export function submissionColumns(submission: NamedSubmission | null) {
  return { idempotencyKey: submission?.key ?? null, requestSha256: submission?.requestSha256 ?? null };
}
