/** The members of runs and optimizations over a universe. They keep them, whatever becomes of the universe. */
import { eq } from "drizzle-orm";
import { json, pgTable, unionAll, uuid } from "drizzle-orm/pg-core";
import type { Db } from "./database.ts";
import { backtests, type Member, optimizations } from "./schema.ts";

/** The members of the universe that a run names, as they were when it was submitted. */
export const runMembers = pgTable("run_members", {
  backtestId: uuid("backtest_id").primaryKey().references(() => backtests.id, { onDelete: "cascade" }),
  members: json("members").$type<readonly Member[]>().notNull(),
});

/** The same of an optimization, whose trials have one account over them. */
export const optimizationMembers = pgTable("optimization_members", {
  optimizationId: uuid("optimization_id").primaryKey().references(() => optimizations.id, { onDelete: "cascade" }),
  members: json("members").$type<readonly Member[]>().notNull(),
});

/** Writes the members of a run whose record is written before. */
export async function insertRunMembers(tx: Db, backtestId: string, members: readonly Member[]): Promise<void> {
  await tx.insert(runMembers).values({ backtestId, members });
}

/** Writes the members of an optimization whose record is written before. */
export async function insertOptimizationMembers(
  tx: Db,
  optimizationId: string,
  members: readonly Member[],
): Promise<void> {
  await tx.insert(optimizationMembers).values({ optimizationId, members });
}

/** The members that a run or an optimization was submitted with; null for one without a universe. */
export async function readRunMembers(db: Db, id: string): Promise<readonly Member[] | null> {
  const [row] = await unionAll(
    db.select({ members: runMembers.members }).from(runMembers).where(eq(runMembers.backtestId, id)),
    db.select({ members: optimizationMembers.members }).from(optimizationMembers)
      .where(eq(optimizationMembers.optimizationId, id)),
  );
  return row?.members ?? null;
}
