import { and, count, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { MonteCarloResult } from "../research/monte_carlo/request.ts";
import type { Size } from "./backtest_sizes.ts";
import type { AttemptKey, OwnedKey } from "./backtests.ts";
import type { Db } from "./client.ts";
import { storableText } from "./codec/storable.ts";
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

const UNENDED = ["queued", "running"] as const satisfies readonly MonteCarlo["status"][];

// A row without its result.
const RECORD_BYTES = 500;

/**
 * Writes a queued record under a new UUIDv7. The caller counts its bytes, see backtest_sizes.ts.
 *
 * @returns Null if this user has no such backtest.
 */
export async function insertMonteCarlo(tx: Db, values: NewMonteCarlo): Promise<MonteCarlo | null> {
  const { backtestId, ownerId } = values;
  if (!await growBacktest(tx, { id: backtestId, ownerId }, RECORD_BYTES)) return null;
  const [row] = await tx.insert(monteCarlos).values({ ...values, id: uuidv7(), sizeBytes: RECORD_BYTES }).returning();
  if (row === undefined) throw new Error("Cannot insert a Monte Carlo simulation: no row came back");
  return row;
}

/** The record that a user submitted under a key since a moment; null if there is none. */
export async function findMonteCarloSubmission(
  db: Db,
  { ownerId, key }: { readonly ownerId: string; readonly key: string },
  since: Date,
): Promise<MonteCarlo | null> {
  const [row] = await db.select().from(monteCarlos).where(and(
    eq(monteCarlos.ownerId, ownerId),
    eq(monteCarlos.idempotencyKey, key),
    gte(monteCarlos.createdAt, since),
  )).orderBy(desc(monteCarlos.id)).limit(1);
  return row ?? null;
}

/** One user's record; null if this user has none of that id. */
export async function getMonteCarlo(db: Db, key: OwnedKey): Promise<MonteCarlo | null> {
  const [row] = await db.select().from(monteCarlos).where(owned(key));
  return row ?? null;
}

/**
 * One user's records, newest first.
 *
 * @param page `backtestId`: only those of it; `after`: only older ones than of this id.
 */
export async function listMonteCarlos(db: Db, page: {
  readonly ownerId: string;
  readonly backtestId?: string | undefined;
  readonly status?: MonteCarlo["status"] | undefined;
  readonly after: string | undefined;
  readonly limit: number;
}): Promise<MonteCarlo[]> {
  return await db.select().from(monteCarlos).where(and(
    eq(monteCarlos.ownerId, page.ownerId),
    page.backtestId === undefined ? undefined : eq(monteCarlos.backtestId, page.backtestId),
    page.status === undefined ? undefined : eq(monteCarlos.status, page.status),
    page.after === undefined ? undefined : lt(monteCarlos.id, page.after),
  )).orderBy(desc(monteCarlos.id)).limit(page.limit);
}

/** Counts a user's queued and running records, and all those of one backtest. @param tx Holds the user's lock. */
export async function countMonteCarlos(
  tx: Db,
  { ownerId, backtestId }: { readonly ownerId: string; readonly backtestId: string },
): Promise<{ readonly unended: number; readonly ofBacktest: number }> {
  const [unended] = await tx.select({ count: count() }).from(monteCarlos)
    .where(and(eq(monteCarlos.ownerId, ownerId), inArray(monteCarlos.status, UNENDED)));
  const [ofBacktest] = await tx.select({ count: count() }).from(monteCarlos)
    .where(eq(monteCarlos.backtestId, backtestId));
  return { unended: unended?.count ?? 0, ofBacktest: ofBacktest?.count ?? 0 };
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

/** Ends a record that no worker could finish. @returns True if it had not ended before. */
export async function endMonteCarlo(
  tx: Db,
  id: string,
  error: NonNullable<MonteCarlo["error"]>,
): Promise<boolean> {
  const rows = await tx.update(monteCarlos).set(columnsOf({ error }))
    .where(and(eq(monteCarlos.id, id), inArray(monteCarlos.status, UNENDED))).returning({ id: monteCarlos.id });
  return rows.length > 0;
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

/** Cancels a queued or running record. @returns Null if it has ended or this user has none of that id. */
export async function cancelMonteCarlo(tx: Db, key: OwnedKey): Promise<MonteCarlo | null> {
  const [row] = await tx.update(monteCarlos).set({ status: "cancelled", finishedAt: sql`now()` })
    .where(and(owned(key), inArray(monteCarlos.status, UNENDED))).returning();
  return row ?? null;
}

/**
 * Removes a record; nothing happens if it is gone.
 *
 * @returns The bytes that its owner gets back, for subtractSizes().
 */
export async function deleteMonteCarlo(
  tx: Db,
  { id, ownerId, backtestId }: Pick<MonteCarlo, "id" | "ownerId" | "backtestId">,
): Promise<Size[]> {
  const backtest = { id: backtestId, ownerId };
  await lockBacktest(tx, backtest);
  const rows = await tx.delete(monteCarlos).where(owned({ id, ownerId }))
    .returning({ ownerId: monteCarlos.ownerId, sizeBytes: monteCarlos.sizeBytes });
  for (const { sizeBytes } of rows) await growBacktest(tx, backtest, -sizeBytes);
  return rows;
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

function owned(key: OwnedKey) {
  return and(eq(monteCarlos.id, key.id), eq(monteCarlos.ownerId, key.ownerId));
}

function held(run: AttemptKey) {
  return and(
    eq(monteCarlos.id, run.id),
    eq(monteCarlos.attempts, run.attempt),
    eq(monteCarlos.status, "running"),
  );
}
