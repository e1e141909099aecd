import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { Backtest } from "./backtests.ts";
import type { Db } from "./client.ts";
import { backtests, idempotencyKeys } from "./schema.ts";

/** How long a submission is known by its name: for as long as a client may still try again. */
export const SUBMISSION_KEPT_MS = 24 * 3_600_000;

/** A submission under the name that its client gave it. */
export interface NamedSubmission {
  readonly ownerId: string;
  readonly key: string;
  /** Of what was submitted, hexadecimal. */
  readonly requestSha256: string;
}

/** What a user submitted under a key since a moment: the record as it is now, and the sum of what was submitted; null for nothing. */
export async function findSubmission(
  db: Db,
  { ownerId, key }: NamedSubmission,
  since: Date,
): Promise<{ readonly backtest: Backtest; readonly requestSha256: string } | null> {
  const [row] = await db.select({ backtest: backtests, requestSha256: idempotencyKeys.requestSha256 })
    .from(idempotencyKeys).innerJoin(backtests, eq(backtests.id, idempotencyKeys.backtestId))
    .where(and(
      eq(idempotencyKeys.ownerId, ownerId),
      eq(idempotencyKeys.key, key),
      gte(idempotencyKeys.createdAt, since),
    ));
  return row ?? null;
}

/** Notes what a record was submitted as, in the transaction that writes it; an older submission of that name is forgotten. */
export async function insertSubmission(tx: Db, submission: NamedSubmission, backtestId: string): Promise<void> {
  const { requestSha256 } = submission;
  await tx.insert(idempotencyKeys).values({ ...submission, backtestId }).onConflictDoUpdate({
    target: [idempotencyKeys.ownerId, idempotencyKeys.key],
    set: { requestSha256, backtestId, createdAt: sql`now()` },
  });
}

/** Forgets the names of submissions from before a moment; the records stay. @returns How many. */
export async function forgetSubmissions(db: Db, before: Date): Promise<number> {
  const rows = await db.delete(idempotencyKeys).where(lt(idempotencyKeys.createdAt, before))
    .returning({ key: idempotencyKeys.key });
  return rows.length;
}
