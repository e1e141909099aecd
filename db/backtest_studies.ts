/** Records of what is found out about a backtest: they belong to it, go with it, and their bytes count as its own. */
import { and, count, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { Size } from "./backtest_sizes.ts";
import type { AttemptKey } from "./backtests.ts";
import type { Db } from "./client.ts";
import { storableJson, storableText } from "./codec/storable.ts";
import { RUN_KINDS, type RunKindName } from "./run_kinds.ts";
import { type OwnedKey, type RunFailure, RunRecords, type RunRow, UNENDED } from "./runs.ts";
import { backtests } from "./schema.ts";
import { measureSeries, type Series } from "./series.ts";

/** The bytes of a row without its result. */
export const STUDY_BYTES = 500;

/** The kinds whose records belong to a backtest. */
export type StudyKind = Exclude<RunKindName, "backtest" | "optimization">;

/** The columns that all of them have. */
export interface StudyRow extends RunRow {
  readonly backtestId: string;
  readonly attempts: number;
}

/** The end of a record: its result, or the reason why it has none. */
export type StudyEnd<Result extends object> = { readonly result: Result; readonly series: readonly Series[] } | {
  readonly error: RunFailure;
};

type InsertSeries = (tx: Db, id: string, series: readonly Series[]) => Promise<void>;

export class StudyRecords<Row extends StudyRow> extends RunRecords<Row> {
  readonly #table: (typeof RUN_KINDS)[StudyKind]["table"];
  readonly #select: (db: Db, where: SQL | undefined, limit: number) => Promise<Row[]>;
  readonly #insertSeries: InsertSeries;

  /**
   * @param select The records that a condition selects, the newest first.
   * @param insertSeries Stores the series of a record that completes; absent: it has none.
   */
  constructor(
    kind: StudyKind,
    select: (db: Db, where: SQL | undefined, limit: number) => Promise<Row[]>,
    insertSeries: InsertSeries = () => Promise.resolve(),
  ) {
    super(kind, {
      select,
      lockForRemoval: (tx, { ownerId, backtestId }) => lockBacktest(tx, { id: backtestId, ownerId }),
      async afterRemoval(tx, { ownerId, backtestId }, sizeBytes) {
        await growBacktest(tx, { id: backtestId, ownerId }, -sizeBytes);
      },
    });
    this.#table = RUN_KINDS[kind].table;
    this.#select = select;
    this.#insertSeries = insertSeries;
  }

  /** The condition of those of a backtest. */
  of(backtestId: string): SQL {
    return eq(this.#table.backtestId, backtestId);
  }

  /** How many a backtest has. */
  async countOf(tx: Db, backtestId: string): Promise<number> {
    const [row] = await tx.select({ count: count() }).from(this.#table).where(this.of(backtestId));
    return row?.count ?? 0;
  }

  /** Begins an attempt, which ends every earlier worker's hold on the record; null if it has ended or is gone. */
  async claim(db: Db, id: string): Promise<Row | null> {
    const claimed = await db.update(this.#table)
      .set({ status: "running", attempts: sql`${this.#table.attempts} + 1`, progress: 0, startedAt: sql`now()` })
      .where(and(eq(this.#table.id, id), inArray(this.#table.status, UNENDED))).returning({ id: this.#table.id });
    if (claimed.length === 0) return null;
    const [row] = await this.#select(db, eq(this.#table.id, id), 1);
    return row ?? null;
  }

  /** Stores an attempt's progress, a fraction. @returns False when it was cancelled or claimed by another. */
  async setProgress(db: Db, { progress, ...run }: AttemptKey & { readonly progress: number }): Promise<boolean> {
    const rows = await db.update(this.#table).set({ progress }).where(this.#held(run)).returning({
      id: this.#table.id,
    });
    return rows.length > 0;
  }

  /**
   * Stores the end of an attempt, unless another worker has the record.
   *
   * @returns The bytes by which the owner's storage has grown, for addSizes().
   */
  async settle(
    tx: Db,
    { id, ownerId, backtestId, attempts: attempt }: StudyRow,
    end: StudyEnd<object>,
  ): Promise<Size> {
    const backtest = { id: backtestId, ownerId };
    const result = "result" in end ? storableJson(end.result) : null;
    const columns = "result" in end
      ? { status: "completed" as const, progress: 1, result: sql`${result}::text::jsonb` }
      : { status: "failed" as const, error: { ...end.error, message: storableText(end.error.message) } };
    const series = "series" in end ? end.series : [];
    const sizeBytes = (result?.length ?? 0) + measureSeries(series);
    await lockBacktest(tx, backtest);
    const rows = await tx.update(this.#table)
      .set({ ...columns, finishedAt: sql`now()`, sizeBytes: sql`${this.#table.sizeBytes} + ${sizeBytes}` })
      .where(this.#held({ id, attempt })).returning({ id: this.#table.id });
    if (rows.length === 0) return { ownerId, sizeBytes: 0 };
    await this.#insertSeries(tx, id, series);
    await growBacktest(tx, backtest, sizeBytes);
    return { ownerId, sizeBytes };
  }

  /** Gives an attempt back unfinished. @returns True if it still held the record. */
  async release(tx: Db, run: AttemptKey): Promise<boolean> {
    const rows = await tx.update(this.#table).set({ status: "queued", progress: 0, startedAt: null })
      .where(this.#held(run)).returning({ id: this.#table.id });
    return rows.length > 0;
  }

  #held(run: AttemptKey): SQL | undefined {
    return and(
      eq(this.#table.id, run.id),
      eq(this.#table.attempts, run.attempt),
      eq(this.#table.status, "running"),
    );
  }
}

/** Makes room for a record in its backtest's bytes. @returns False if this user has no such backtest. */
export async function beginStudy(tx: Db, backtest: OwnedKey): Promise<boolean> {
  return await growBacktest(tx, backtest, STUDY_BYTES);
}

/** Locks a backtest before one of its records, as the backtest's own deletion does: the other order could deadlock with it. */
async function lockBacktest(tx: Db, key: OwnedKey): Promise<void> {
  await tx.select({ id: backtests.id }).from(backtests).where(backtestOf(key)).for("no key update");
}

/** Adds to the bytes of a backtest, so that its removal gives back those of its records. @returns False if it is gone. */
async function growBacktest(tx: Db, key: OwnedKey, bytes: number): Promise<boolean> {
  const rows = await tx.update(backtests).set({ sizeBytes: sql`${backtests.sizeBytes} + ${bytes}` })
    .where(backtestOf(key)).returning({ id: backtests.id });
  return rows.length > 0;
}

function backtestOf({ id, ownerId }: OwnedKey) {
  return and(eq(backtests.id, id), eq(backtests.ownerId, ownerId));
}
