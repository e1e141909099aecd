import { and, count, desc, eq, gte, inArray, lt, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { v7 as uuidv7 } from "uuid";
import { type SIZE, subtractSizes } from "./backtest_sizes.ts";
import type { BacktestStatus, OwnedKey } from "./backtests.ts";
import type { Db } from "./client.ts";
import { type BestTrial, optimizations, type OptimizationWindow, type WindowRun } from "./schema.ts";
import { storableText } from "./codec/storable.ts";

export type { BestTrial, OptimizationWindow, WindowRun };
export type Optimization = typeof optimizations.$inferSelect;

/** The columns that a submission sets; the service sets the others. */
export type NewOptimization = Pick<
  typeof optimizations.$inferInsert,
  | "ownerId"
  | "symbol"
  | "exchange"
  | "strategy"
  | "strategySlug"
  | "strategyVersion"
  | "startDate"
  | "endDate"
  | "initialBalance"
  | "parameters"
  | "runtime"
  | "space"
  | "constraints"
  | "method"
  | "objective"
  | "direction"
  | "trialsMax"
  | "seed"
  | "walkForward"
  | "name"
  | "idempotencyKey"
  | "requestSha256"
  | "spacePoints"
  | "sizeBytes"
>;

const UNENDED = ["queued", "running"] as const satisfies readonly BacktestStatus[];
const OWN_SIZE = { ownerId: optimizations.ownerId, sizeBytes: optimizations.sizeBytes } satisfies Record<
  keyof typeof SIZE,
  unknown
>;

/** Writes a queued optimization. The caller counts its bytes, see backtest_sizes.ts. */
export async function insertOptimization(tx: Db, values: NewOptimization): Promise<Optimization> {
  const [row] = await tx.insert(optimizations).values({ ...values, id: uuidv7() }).returning();
  if (row === undefined) throw new Error(`Cannot insert the optimization of ${values.symbol}: no row came back`);
  return row;
}

/** One user's record; null if this user has none of that id. */
export async function getOptimization(db: Db, key: OwnedKey): Promise<Optimization | null> {
  const [row] = await db.select().from(optimizations).where(owned(key));
  return row ?? null;
}

/** The record that a user submitted under a key since a moment; null if there is none. */
export async function findOptimizationSubmission(
  db: Db,
  { ownerId, key }: { readonly ownerId: string; readonly key: string },
  since: Date,
): Promise<Optimization | null> {
  const [row] = await db.select().from(optimizations).where(and(
    eq(optimizations.ownerId, ownerId),
    eq(optimizations.idempotencyKey, key),
    gte(optimizations.createdAt, since),
  )).orderBy(desc(optimizations.id)).limit(1);
  return row ?? null;
}

/** A page of a user's records, the newest first. */
export async function listOptimizations(db: Db, page: {
  readonly ownerId: string;
  readonly status?: BacktestStatus | undefined;
  /** The last id that is known. */
  readonly after?: string | undefined;
  readonly limit: number;
}): Promise<Optimization[]> {
  const { ownerId, status, after, limit } = page;
  return await db.select().from(optimizations).where(and(
    eq(optimizations.ownerId, ownerId),
    status === undefined ? undefined : eq(optimizations.status, status),
    after === undefined ? undefined : lt(optimizations.id, after),
  )).orderBy(desc(optimizations.id)).limit(limit);
}

/** How many of a user's optimizations wait or run. */
export async function countUnendedOptimizations(tx: Db, ownerId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(optimizations)
    .where(and(eq(optimizations.ownerId, ownerId), inArray(optimizations.status, UNENDED)));
  return row?.count ?? 0;
}

/** A record for a worker; null if it has ended or is gone. */
export async function findUnendedOptimization(db: Db, id: string): Promise<Optimization | null> {
  const [row] = await db.select().from(optimizations).where(unended(id));
  return row ?? null;
}

/** The same, locked until the caller's transaction ends: slices that end at once are counted one after the other. */
export async function lockUnendedOptimization(tx: Db, id: string): Promise<Optimization | null> {
  const [row] = await tx.select().from(optimizations).where(unended(id)).for("update");
  return row ?? null;
}

/** Changes a record that the caller's transaction has locked. */
export async function updateOptimization(
  tx: Db,
  id: string,
  values: PgUpdateSetSource<typeof optimizations>,
): Promise<void> {
  await tx.update(optimizations).set(values).where(eq(optimizations.id, id));
}

/** Ends a record without more trials. @returns True if it had not ended before. */
export async function failOptimization(
  tx: Db,
  id: string,
  error: NonNullable<Optimization["error"]>,
): Promise<boolean> {
  const rows = await tx.update(optimizations)
    .set({ status: "failed", error: { ...error, message: storableText(error.message) }, finishedAt: sql`now()` })
    .where(unended(id)).returning({ id: optimizations.id });
  return rows.length > 0;
}

/**
 * Cancels a queued or running record; its trials so far stay.
 *
 * @returns The record as it is now (with another status than `cancelled` if it had ended before); null if this user has none of that
 * id.
 */
export async function cancelOptimization(tx: Db, key: OwnedKey): Promise<Optimization | null> {
  const [row] = await tx.update(optimizations)
    .set({ status: "cancelled", finishedAt: sql`now()` })
    .where(and(owned(key), inArray(optimizations.status, UNENDED))).returning();
  return row ?? await getOptimization(tx, key);
}

/** Removes a record with its trials; false if this user has none of that id. */
export async function deleteOptimization(tx: Db, key: OwnedKey): Promise<boolean> {
  const rows = await tx.delete(optimizations).where(owned(key)).returning(OWN_SIZE);
  await subtractSizes(tx, rows);
  return rows.length > 0;
}

/**
 * Removes records that ended before a moment, the oldest first, with their trials.
 *
 * @returns How many; fewer than `countMax` when no more are that old.
 */
export async function removeEndedOptimizations(db: Db, before: Date, countMax: number): Promise<number> {
  const old = db.select({ id: optimizations.id }).from(optimizations)
    .where(lt(optimizations.finishedAt, before)).orderBy(optimizations.id).limit(countMax);
  return await db.transaction(async (tx) => {
    const rows = await tx.delete(optimizations).where(inArray(optimizations.id, old)).returning(OWN_SIZE);
    await subtractSizes(tx, rows);
    return rows.length;
  });
}

function owned(key: OwnedKey) {
  return and(eq(optimizations.id, key.id), eq(optimizations.ownerId, key.ownerId));
}

function unended(id: string) {
  return and(eq(optimizations.id, id), inArray(optimizations.status, UNENDED));
}
