/** Links by which anybody reads a run, a comparison or an optimization. */
import { and, count, desc, eq, gt, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { backtests, optimizations, shares, user } from "./schema.ts";
import { isBanned } from "./users.ts";

/** A stored link. */
export type ShareRow = typeof shares.$inferSelect;

/** The record that links show: a run (of a comparison: its first one) or an optimization. */
export type ShareSubject = { readonly backtestId: string } | { readonly optimizationId: string };

/** The conditions of a list of one user's links. */
interface ShareFilter {
  readonly ownerId: string;
  readonly subject?: ShareSubject | undefined;
  /** The last id that is known. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Stores a link. */
export async function insertShare(tx: Db, row: Omit<ShareRow, "createdAt">): Promise<ShareRow> {
  const [stored] = await tx.insert(shares).values(row).returning();
  if (stored === undefined) throw new Error(`Cannot read back the link ${row.id}`);
  return stored;
}

/** One user's links that have not expired, newest first. */
export async function listShares(db: Db, { ownerId, subject, after, limit }: ShareFilter): Promise<ShareRow[]> {
  const where = and(
    eq(shares.ownerId, ownerId),
    gt(shares.expiresAt, sql`now()`),
    subject && isOf(subject),
    after === undefined ? undefined : lt(shares.id, after),
  );
  return await db.select().from(shares).where(where).orderBy(desc(shares.id)).limit(limit);
}

/** How many links a user has that have not expired, in all or of a record. @param tx Holds the user's lock. */
export async function countShares(tx: Db, ownerId: string, subject?: ShareSubject): Promise<number> {
  const where = and(eq(shares.ownerId, ownerId), gt(shares.expiresAt, sql`now()`), subject && isOf(subject));
  const [row] = await tx.select({ count: count() }).from(shares).where(where);
  return row?.count ?? 0;
}

/** Revokes a user's link. @returns False where the user has none with this id. */
export async function deleteShare(db: Db, key: { readonly id: string; readonly ownerId: string }): Promise<boolean> {
  const rows = await db.delete(shares).where(and(eq(shares.id, key.id), eq(shares.ownerId, key.ownerId)))
    .returning({ id: shares.id });
  return rows.length > 0;
}

/** The link of a token that opens something: neither expired nor of a banned user. */
export async function findShare(db: Db, tokenSha256: string): Promise<ShareRow | undefined> {
  const [row] = await db.select({ share: shares, isBanned }).from(shares).innerJoin(user, eq(user.id, shares.ownerId))
    .where(and(eq(shares.tokenSha256, tokenSha256), gt(shares.expiresAt, sql`now()`)));
  return row === undefined || row.isBanned ? undefined : row.share;
}

/** The names and curves of some of a user's runs, in the order of the ids; deleted ones are left out. */
export async function readSharedRuns(db: Db, ownerId: string, ids: readonly string[]) {
  const { id, name, strategy, changedSettings, symbol, exchange, startDate, endDate } = backtests;
  const { totalReturn, sharpe, maxDrawdown, trades, sparkline } = backtests;
  const rows = await db.select({
    ...{ id, name, strategy, changedSettings, symbol, exchange, startDate, endDate },
    ...{ totalReturn, sharpe, maxDrawdown, trades, sparkline },
  }).from(backtests).where(and(inArray(id, [...ids]), eq(backtests.ownerId, ownerId)));
  return ids.flatMap((wanted) => rows.filter((row) => row.id === wanted));
}

/** The name of one of a user's optimizations, with what it is about. */
export async function readSharedOptimization(db: Db, ownerId: string, optimizationId: string) {
  const { id, name, strategy, symbol, exchange, startDate, endDate, trials } = optimizations;
  const [row] = await db.select({ id, name, strategy, symbol, exchange, startDate, endDate, trials })
    .from(optimizations).where(and(eq(id, optimizationId), eq(optimizations.ownerId, ownerId)));
  return row;
}

/** Removes links that have expired. */
export async function removeExpiredShares(db: Db): Promise<void> {
  await db.delete(shares).where(lte(shares.expiresAt, sql`now()`));
}

function isOf(subject: ShareSubject): SQL {
  return "backtestId" in subject
    ? eq(shares.backtestId, subject.backtestId)
    : eq(shares.optimizationId, subject.optimizationId);
}
