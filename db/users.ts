import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { session, user } from "./schema.ts";
import { storableText } from "./storable.ts";

/**
 * Gives a user the role `admin`.
 *
 * @param email As it was signed up with; upper and lower case do not matter.
 * @returns Whether there is such a user.
 */
export async function grantAdmin(db: Db, email: string): Promise<boolean> {
  const rows = await db.update(user).set({ role: "admin", updatedAt: new Date() })
    .where(eq(user.email, email.trim().toLowerCase())).returning({ id: user.id });
  return rows.length > 0;
}

/** The addresses from which a user's sessions were begun that have not ended, each once; of no user there are none. */
export async function listSessionAddresses(db: Db, email: string): Promise<string[]> {
  const rows = await db.selectDistinct({ address: session.ipAddress }).from(session)
    .innerJoin(user, eq(user.id, session.userId))
    .where(and(eq(user.email, storableText(email.trim().toLowerCase())), gt(session.expiresAt, sql`now()`)));
  return rows.flatMap(({ address }) => address === null || address === "" ? [] : [address]);
}

/** Removes the sessions that have ended, of all users. */
export async function removeEndedSessions(db: Db): Promise<void> {
  await db.delete(session).where(lt(session.expiresAt, sql`now()`));
}
