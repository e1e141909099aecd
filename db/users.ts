import { and, eq, gt, isNotNull, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { storableText } from "./codec/storable.ts";
import { prepareOnce } from "./prepare_once.ts";
import { account, type Quotas, session, tokens, user } from "./schema.ts";

/** True of a user whom an admin has banned, until the ban ends. */
export const isBanned = sql<boolean>`coalesce(${user.banned}, false) and coalesce(${user.banExpires} > now(), true)`;

/** The session of `token`, ended or not, with its user. */
const selectSession = prepareOnce((db) =>
  db.select({
    id: session.id,
    expiresAt: session.expiresAt,
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    quotas: user.quotas,
  }).from(session).innerJoin(user, eq(user.id, session.userId)).where(eq(session.token, sql.placeholder("token")))
);

/** A session with its user. */
type SessionRow = Awaited<ReturnType<typeof selectSession>>[number];

/** The session of a token, ended or not, in one round trip. */
export async function findSession(db: Db, token: string): Promise<SessionRow | undefined> {
  const [row] = await selectSession(db, { token });
  return row;
}

/**
 * Gives a user the role `admin`.
 *
 * @param email The address of the sign-up, in any case.
 * @returns The user's id; undefined where there is no such user.
 */
export async function grantAdmin(db: Db, email: string): Promise<string | undefined> {
  const rows = await db.update(user).set({ role: "admin", updatedAt: new Date() })
    .where(eq(user.email, email.trim().toLowerCase())).returning({ id: user.id });
  return rows[0]?.id;
}

/** The quotas that are a user's own; null without any, undefined for an unknown user. */
export async function findQuotas(db: Db, userId: string): Promise<Partial<Quotas> | null | undefined> {
  const [row] = await db.select({ quotas: user.quotas }).from(user).where(eq(user.id, storableText(userId)));
  return row?.quotas;
}

/** New quotas of a user; null gives one back to the settings, and an absent one stays. */
export type QuotaChanges = { readonly [name in keyof Quotas]?: number | null | undefined };

/** Changes a user's own quotas. @returns Those they have now; null without any, undefined for an unknown user. */
export async function changeQuotas(
  db: Db,
  userId: string,
  changes: QuotaChanges,
): Promise<Partial<Quotas> | null | undefined> {
  const changed = sql`coalesce(${user.quotas}, '{}') || ${JSON.stringify(changes)}::text::jsonb`;
  const [row] = await db.update(user)
    .set({ quotas: sql`nullif(jsonb_strip_nulls(${changed}), '{}')`, updatedAt: new Date() })
    .where(eq(user.id, storableText(userId))).returning({ quotas: user.quotas });
  return row?.quotas;
}

/** The id of the user with an e-mail address. */
export async function findUserId(db: Db, email: string): Promise<string | undefined> {
  const rows = await db.select({ id: user.id }).from(user)
    .where(eq(user.email, storableText(email.trim().toLowerCase())));
  return rows[0]?.id;
}

/** The same for the user with an e-mail address. */
export async function changeQuotasOf(
  db: Db,
  email: string,
  changes: QuotaChanges,
): Promise<Partial<Quotas> | null | undefined> {
  const id = await findUserId(db, email);
  return id === undefined ? undefined : await changeQuotas(db, id, changes);
}

/** True if a user has a password. */
export async function hasPassword(db: Db, userId: string): Promise<boolean> {
  const rows = await db.select({ id: account.id }).from(account)
    .where(and(eq(account.userId, userId), isNotNull(account.password)));
  return rows.length > 0;
}

/** The IP addresses of a user's current sessions, each once; empty for an unknown user. */
export async function listSessionAddresses(db: Db, email: string): Promise<string[]> {
  const rows = await db.selectDistinct({ address: session.ipAddress }).from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(and(eq(user.email, storableText(email.trim().toLowerCase())), gt(session.expiresAt, sql`now()`)));
  return rows.flatMap(({ address }) => address === null || address === "" ? [] : [address]);
}

/** Ends all sessions of a user, and revokes all their tokens. */
export async function endAccess(db: Db, userId: string): Promise<void> {
  await db.transaction(async (tx: Db) => {
    await tx.delete(session).where(eq(session.userId, userId));
    await tx.delete(tokens).where(eq(tokens.userId, userId));
  });
}

/** Removes all users' ended sessions. */
export async function removeEndedSessions(db: Db): Promise<void> {
  await db.delete(session).where(lt(session.expiresAt, sql`now()`));
}

/** The role behind a stored one, which is a comma-separated list of names. */
export function readRole(stored: string | null | undefined): "user" | "admin" {
  return (stored ?? "").split(",").some((part) => part.trim() === "admin") ? "admin" : "user";
}
