/** Codes that programs exchange for tokens after a person has let them in. */
import { eq, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { agentCodes, user } from "./schema.ts";
import { isBanned } from "./users.ts";

type AgentCode = typeof agentCodes.$inferSelect;

/** Keeps a person's answer until the program asks for its token. It takes the place of the one before: each person has one. */
export async function keepAgentCode(db: Db, row: AgentCode): Promise<void> {
  await db.insert(agentCodes).values(row).onConflictDoUpdate({ target: agentCodes.userId, set: row });
}

/** Takes a code, so that of two questions with it one gets an answer. @returns Undefined for an unknown one. */
export async function takeAgentCode(
  db: Db,
  codeSha256: string,
): Promise<AgentCode & { readonly role: string | null; readonly isBanned: boolean } | undefined> {
  const [taken] = await db.delete(agentCodes).where(eq(agentCodes.codeSha256, codeSha256)).returning();
  if (taken === undefined) return undefined;
  const [owner] = await db.select({
    role: user.role,
    isBanned,
  }).from(user).where(eq(user.id, taken.userId));
  return owner === undefined ? undefined : { ...taken, ...owner };
}

/** Removes codes that no program has asked for in time. */
export async function removeExpiredAgentCodes(db: Db): Promise<void> {
  await db.delete(agentCodes).where(lt(agentCodes.expiresAt, sql`now()`));
}
