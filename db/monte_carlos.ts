import { and, count, desc, eq, inArray, type SQL, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { MonteCarloResult } from "../research/monte_carlo/request.ts";
import { addSizes, type Size } from "./backtest_sizes.ts";
import type { AttemptKey } from "./backtests.ts";
import type { Db } from "./client.ts";
import { storableText } from "./codec/storable.ts";
import { type OwnedKey, RunRecords, submittedAs, UNENDED } from "./runs.ts";
import { backtests, monteCarlos } from "./schema.ts";

export type MonteCarlo = typeof monteCarlos.$inferSelect;

/** The columns that a submission sets; the service sets the others. */
export type NewMonteCarlo = Pick<
  typeof monteCarlos.$inferInsert,
  | "ownerId"
  | "backtestId"
  | "method"
  | "runs"
  | "blockDays"
  | "seed"
  | "ruinDrawdown"
  | "idempotencyKey"
  | "requestSha256"
>;

// A row without its result.
export const RECORD_BYTES = 500;

/** Makes room for a record in its backtest's bytes. @returns False if this user has no such backtest. */
export async function beginMonteCarlo(tx: Db, backtest: OwnedKey): Promise<boolean> {
  return await growBacktest(tx, backtest, RECORD_BYTES);
}

/** Writes a queued record, and adds its bytes to the user's: beginMonteCarlo() has made room for it. */
export async function insertMonteCarlo(tx: Db, values: NewMonteCarlo, id = uuidv7()): Promise<MonteCarlo> {
  const [[row]] = await Promise.all([
    tx.insert(monteCarlos).values({ ...values, id, sizeBytes: RECORD_BYTES }).returning(),
    addSizes(tx, [{ ownerId: values.ownerId, sizeBytes: RECORD_BYTES }]),
  ]);
  if (row === undefined) throw new Error("Cannot insert a Monte Carlo simulation: no row came back");
  return row;
}

/** The records of Monte Carlo simulations. */
export const monteCarloRecords = new RunRecords<MonteCarlo>("monteCarlo", {
  select: (db, where, limit) => db.select().from(monteCarlos).where(where).orderBy(desc(monteCarlos.id)).limit(limit),
  async findSubmission(db, submission, since) {
    const [row] = await this.select(db, submittedAs(monteCarlos, submission, since), 1);
    return row === undefined ? null : { row, requestSha256: row.requestSha256 };
  },
  lockForRemoval: (tx, { ownerId, backtestId }) => lockBacktest(tx, { id: backtestId, ownerId }),
  async afterRemoval(tx, { ownerId, backtestId }, sizeBytes) {
    await growBacktest(tx, { id: backtestId, ownerId }, -sizeBytes);
  },
});

/** The condition of those of a backtest. */
export const ofBacktest = (backtestId: string): SQL => eq(monteCarlos.backtestId, backtestId);

/** How many a backtest has. */
export async function countMonteCarlosOf(tx: Db, backtestId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(monteCarlos).where(ofBacktest(backtestId));
  return row?.count ?? 0;
}

/** Begins an attempt, which ends every earlier worker's hold on the record; null if it has ended or is gone. */
export async function claimMonteCarlo(db: Db, id: string): Promise<MonteCarlo | null> {
  const [row] = await db.update(monteCarlos)
    .set({ status: "running", attempts: sql`${monteCarlos.attempts} + 1`, progress: 0, startedAt: sql`now()` })
    .where(and(eq(monteCarlos.id, id), inArray(monteCarlos.status, UNENDED)))
    .returning();
  return row ?? null;
}

/** Stores an attempt's progress, a fraction. @returns False when it was cancelled or claimed by another. */
export async function setMonteCarloProgress(db: Db, run: AttemptKey & { readonly progress: number }): Promise<boolean> {
  const rows = await db.update(monteCarlos).set({ progress: run.progress }).where(held(run)).returning({
    id: monteCarlos.id,
  });
  return rows.length > 0;
}

/** The end of a record: its result, or the reason why it has none. */
export type MonteCarloEnd =
  | { readonly result: MonteCarloResult }
  | { readonly error: NonNullable<MonteCarlo["error"]> };

/**
 * Stores the end of an attempt, unless another worker has the record.
 *
 * @returns The bytes by which the owner's storage has grown, for addSizes().
 */
export async function settleMonteCarlo(
  tx: Db,
  { id, ownerId, backtestId, attempts: attempt }: MonteCarlo,
  end: MonteCarloEnd,
): Promise<Size> {
  const backtest = { id: backtestId, ownerId };
  const columns = columnsOf(end);
  const sizeBytes = "result" in columns ? JSON.stringify(columns.result).length : 0;
  await lockBacktest(tx, backtest);
  const rows = await tx.update(monteCarlos).set({ ...columns, sizeBytes: sql`${monteCarlos.sizeBytes} + ${sizeBytes}` })
    .where(held({ id, attempt })).returning({ id: monteCarlos.id });
  if (rows.length === 0) return { ownerId, sizeBytes: 0 };
  await growBacktest(tx, backtest, sizeBytes);
  return { ownerId, sizeBytes };
}

function columnsOf(end: MonteCarloEnd) {
  const finishedAt = sql`now()`;
  if ("result" in end) {
    const { failed_paths: failed = [], notes, ...rest } = end.result;
    const result = {
      ...rest,
      // They hold messages of users' code.
      failed_paths: failed.map((each) => ({ ...each, message: storableText(each.message) })),
      notes: notes.map(storableText),
    };
    return { status: "completed", progress: 1, result, finishedAt } as const;
  }
  return { status: "failed", error: { ...end.error, message: storableText(end.error.message) }, finishedAt } as const;
}

/** Gives an attempt back unfinished. @returns True if it still held the record. */
export async function releaseMonteCarlo(tx: Db, run: AttemptKey): Promise<boolean> {
  const rows = await tx.update(monteCarlos).set({ status: "queued", progress: 0, startedAt: null })
    .where(held(run)).returning({ id: monteCarlos.id });
  return rows.length > 0;
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

function held(run: AttemptKey) {
  return and(
    eq(monteCarlos.id, run.id),
    eq(monteCarlos.attempts, run.attempt),
    eq(monteCarlos.status, "running"),
  );
}
