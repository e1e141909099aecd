import { eq } from "drizzle-orm";
import type { Db } from "./client.ts";
import { user } from "./schema.ts";

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
