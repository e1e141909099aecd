import { desc } from "drizzle-orm";
import { addSizes } from "./backtest_sizes.ts";
import { STUDY_BYTES, StudyRecords } from "./backtest_studies.ts";
import type { Db } from "./client.ts";
import { stressTests } from "./schema.ts";

export type StressTest = typeof stressTests.$inferSelect;

/** The columns that a submission sets; the service sets the others. */
type NewStressTest = Pick<
  typeof stressTests.$inferInsert,
  "id" | "ownerId" | "backtestId" | "idempotencyKey" | "requestSha256"
>;

/** Writes a queued record, and adds its bytes to the user's: beginStudy() has made room for it. */
export async function insertStressTest(tx: Db, values: NewStressTest): Promise<StressTest> {
  const [[row]] = await Promise.all([
    tx.insert(stressTests).values({ ...values, sizeBytes: STUDY_BYTES }).returning(),
    addSizes(tx, [{ ownerId: values.ownerId, sizeBytes: STUDY_BYTES }]),
  ]);
  if (row === undefined) throw new Error("Cannot insert a stress test: no row came back");
  return row;
}

export const stressTestRecords = new StudyRecords<StressTest>(
  "stressTest",
  (db, where, limit) => db.select().from(stressTests).where(where).orderBy(desc(stressTests.id)).limit(limit),
);
