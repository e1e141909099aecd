import { and, count, desc, eq, isNull, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { deviceCode, type Quotas, tokens, user } from "./schema.ts";
import { isBanned } from "./users.ts";

/** A stored token. */
export type TokenRow = typeof tokens.$inferSelect;

/** The rights of a token. */
export type Scope = TokenRow["scope"];

/** A token with the user whom it acts for. */
interface TokenOwner {
  readonly token: TokenRow;
  readonly user: { readonly id: string; readonly email: string; readonly name: string; readonly role: string | null };
  /** The user's own. */
  readonly quotas: Partial<Quotas> | null;
  readonly isBanned: boolean;
}

/** How long an expired token stays in its owner's list. */
const EXPIRED_KEPT = "30 days";
// Each request would write otherwise.
const USE_NOTED_MS = 60_000;

/** Stores a token; the other columns have defaults. */
export async function insertToken(tx: Db, row: Omit<TokenRow, "createdAt" | "lastUsedAt">): Promise<TokenRow> {
  const [stored] = await tx.insert(tokens).values(row).returning();
  if (stored === undefined) throw new Error(`Cannot read back the token ${row.id}`);
  return stored;
}

/** A user's tokens, newest first, the expired ones among them. */
export async function listTokens(db: Db, userId: string): Promise<TokenRow[]> {
  return await db.select().from(tokens).where(eq(tokens.userId, userId)).orderBy(desc(tokens.createdAt), tokens.id);
}

/** Counts a user's tokens. @param tx Holds the user's lock, or two transactions could count the same. */
export async function countTokens(tx: Db, userId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(tokens).where(eq(tokens.userId, userId));
  return row?.count ?? 0;
}

/** Removes a user's token. @returns False where the user has none with this id. */
export async function deleteToken(db: Db, key: { readonly id: string; readonly userId: string }): Promise<boolean> {
  const rows = await db.delete(tokens).where(and(eq(tokens.id, key.id), eq(tokens.userId, key.userId)))
    .returning({ id: tokens.id });
  return rows.length > 0;
}

/** A token by its id, expired or not. */
export async function findToken(db: Db, id: string): Promise<TokenOwner | undefined> {
  const [row] = await db.select({
    token: tokens,
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    quotas: user.quotas,
    isBanned,
  }).from(tokens).innerJoin(user, eq(user.id, tokens.userId)).where(eq(tokens.id, id));
  return row;
}

/** Notes that a token is in use, at most once a minute. */
export async function noteUse(db: Db, { id, lastUsedAt }: TokenRow): Promise<void> {
  const now = new Date();
  if (lastUsedAt !== null && now.getTime() - lastUsedAt.getTime() < USE_NOTED_MS) return;
  // Of requests at the same time, one writes.
  const isUnchanged = lastUsedAt === null ? isNull(tokens.lastUsedAt) : eq(tokens.lastUsedAt, lastUsedAt);
  await db.update(tokens).set({ lastUsedAt: now }).where(and(eq(tokens.id, id), isUnchanged));
}

/** Removes tokens that expired long ago. */
export async function removeExpiredTokens(db: Db): Promise<void> {
  await db.delete(tokens).where(lt(tokens.expiresAt, sql`now() - ${EXPIRED_KEPT}::interval`));
}

/** Removes requests of devices that nobody can answer any more. */
export async function removeExpiredDeviceCodes(db: Db): Promise<void> {
  await db.delete(deviceCode).where(lt(deviceCode.expiresAt, sql`now()`));
}
