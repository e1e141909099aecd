/** The members of a run over a universe. A run keeps them, whatever becomes of the universe. */
import { eq } from "drizzle-orm";
import { json, pgTable, uuid } from "drizzle-orm/pg-core";
import type { Db } from "./database.ts";
import { backtests, type Member } from "./schema.ts";

/** The members of the universe that a run names, as they were when it was submitted. */
export const runMembers = pgTable("run_members", {
  backtestId: uuid("backtest_id").primaryKey().references(() => backtests.id, { onDelete: "cascade" }),
  members: json("members").$type<readonly Member[]>().notNull(),
});

/** Writes the members of a run whose record is written before. */
export async function insertRunMembers(tx: Db, backtestId: string, members: readonly Member[]): Promise<void> {
  await tx.insert(runMembers).values({ backtestId, members });
}

/** The members that a run was submitted with; null for a run without a universe. */
export async function readRunMembers(db: Db, backtestId: string): Promise<readonly Member[] | null> {
  const [row] = await db.select({ members: runMembers.members }).from(runMembers)
    .where(eq(runMembers.backtestId, backtestId));
  return row?.members ?? null;
}
