import { desc } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { addSizes } from "./backtest_sizes.ts";
import { STUDY_BYTES, StudyRecords } from "./backtest_studies.ts";
import type { Db } from "./client.ts";
import { monteCarlos } from "./schema.ts";
import { insertMonteCarloSeries } from "./series.ts";

export type MonteCarlo = typeof monteCarlos.$inferSelect;

/** The columns that a submission sets; the service sets the others. */
export type NewMonteCarlo = Pick<
  typeof monteCarlos.$inferInsert,
  | "ownerId"
  | "backtestId"
  | "method"
  | "runs"
  | "blockDays"
  | "seed"
  | "ruinDrawdown"
  | "idempotencyKey"
  | "requestSha256"
>;

/** Writes a queued record, and adds its bytes to the user's: beginStudy() has made room for it. */
export async function insertMonteCarlo(tx: Db, values: NewMonteCarlo, id = uuidv7()): Promise<MonteCarlo> {
  const [[row]] = await Promise.all([
    tx.insert(monteCarlos).values({ ...values, id, sizeBytes: STUDY_BYTES }).returning(),
    addSizes(tx, [{ ownerId: values.ownerId, sizeBytes: STUDY_BYTES }]),
  ]);
  if (row === undefined) throw new Error("Cannot insert a Monte Carlo simulation: no row came back");
  return row;
}

export const monteCarloRecords = new StudyRecords<MonteCarlo>(
  "monteCarlo",
  (db, where, limit) => db.select().from(monteCarlos).where(where).orderBy(desc(monteCarlos.id)).limit(limit),
  insertMonteCarloSeries,
);
