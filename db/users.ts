import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { session, user } from "./schema.ts";
import { storableText } from "./storable.ts";

/**
 * Gives a user the role `admin`.
 *
 * @param email The address of the sign-up, in any case.
 * @returns Whether the user exists.
 */
export async function grantAdmin(db: Db, email: string): Promise<boolean> {
  const rows = await db.update(user).set({ role: "admin", updatedAt: new Date() })
    .where(eq(user.email, email.trim().toLowerCase())).returning({ id: user.id });
  return rows.length > 0;
}

/** The IP addresses of a user's current sessions, each once; empty for an unknown user. */
export async function listSessionAddresses(db: Db, email: string): Promise<string[]> {
  const rows = await db.selectDistinct({ address: session.ipAddress }).from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(and(eq(user.email, storableText(email.trim().toLowerCase())), gt(session.expiresAt, sql`now()`)));
  return rows.flatMap(({ address }) => address === null || address === "" ? [] : [address]);
}

/** Removes all users' ended sessions. */
export async function removeEndedSessions(db: Db): Promise<void> {
  await db.delete(session).where(lt(session.expiresAt, sql`now()`));
}
