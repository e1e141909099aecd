import { and, desc, eq, inArray } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import type { SubmittedColumn } from "./run_columns.ts";
import { RunRecords, UNENDED } from "./runs.ts";
import { type BestTrial, optimizations, type OptimizationWindow, type WindowRun } from "./schema.ts";

export type { BestTrial, OptimizationWindow, WindowRun };
export type Optimization = typeof optimizations.$inferSelect;

/** The columns that a submission sets; the service sets the others. */
export type NewOptimization = Pick<
  typeof optimizations.$inferInsert,
  | SubmittedColumn
  | "space"
  | "constraints"
  | "method"
  | "objective"
  | "direction"
  | "trialsMax"
  | "seed"
  | "walkForward"
  | "scan"
  | "testedPaths"
  | "spacePoints"
  | "sizeBytes"
>;

export const optimizationRecords = new RunRecords<Optimization>("optimization", {
  select: (db, where, limit) =>
    db.select().from(optimizations).where(where).orderBy(desc(optimizations.id)).limit(limit),
});

/** Writes a queued optimization. The caller counts its bytes, see backtest_sizes.ts. */
export async function insertOptimization(tx: Db, values: NewOptimization, id = uuidv7()): Promise<Optimization> {
  const [row] = await tx.insert(optimizations).values({ ...values, id }).returning();
  if (row === undefined) throw new Error(`Cannot insert the optimization of ${values.symbol}: no row came back`);
  return row;
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

function unended(id: string) {
  return and(eq(optimizations.id, id), inArray(optimizations.status, UNENDED));
}
