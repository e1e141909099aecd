import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import type { EarlierSubmission, NamedSubmission } from "./runs.ts";
import { backtests, idempotencyKeys } from "./schema.ts";
import { type Backtest, BACKTEST_COLUMNS } from "./stale_results.ts";

/** How long a submission's key is kept: as long as a client may retry. */
export const SUBMISSION_KEPT_MS = 24 * 3_600_000;

/** The record that a user submitted under a key since a moment, as it is now, with the submission's checksum; null if there is none. */
export async function findSubmission(
  db: Db,
  { ownerId, key }: NamedSubmission,
  since: Date,
): Promise<EarlierSubmission<Backtest> | null> {
  const [found] = await db.select({ row: BACKTEST_COLUMNS, requestSha256: idempotencyKeys.requestSha256 })
    .from(idempotencyKeys).innerJoin(backtests, eq(backtests.id, idempotencyKeys.backtestId))
    .where(and(
      eq(idempotencyKeys.ownerId, ownerId),
      eq(idempotencyKeys.key, key),
      gte(idempotencyKeys.createdAt, since),
    ));
  return found ?? null;
}

/** Stores a record's submission in the transaction that writes the record; it replaces an older submission of the same key. */
export async function insertSubmission(tx: Db, submission: NamedSubmission, backtestId: string): Promise<void> {
  const { requestSha256 } = submission;
  await tx.insert(idempotencyKeys).values({ ...submission, backtestId }).onConflictDoUpdate({
    target: [idempotencyKeys.ownerId, idempotencyKeys.key],
    set: { requestSha256, backtestId, createdAt: sql`now()` },
  });
}

/** Removes the keys of submissions from before a moment; the records stay. @returns How many. */
export async function forgetSubmissions(db: Db, before: Date): Promise<number> {
  const rows = await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before))
    .returning({ key: idempotencyKeys.key });
  return rows.length;
}
