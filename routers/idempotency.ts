import { createHash } from "node:crypto";
import type { Backtest } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { findSubmission, type NamedSubmission, SUBMISSION_KEPT_MS } from "../db/idempotency.ts";
import { AppError, quote } from "./errors.ts";

// Printable, as header values are.
const KEY = /^[\x20-\x7e]{1,255}$/;

/**
 * A submission under the Idempotency-Key that came with it.
 *
 * @param request What is submitted: equal if its JSON is.
 * @returns null without a key.
 * @throws AppError VALIDATION_FAILED for a key that is none.
 */
export function nameSubmission(ownerId: string, key: string | undefined, request: unknown): NamedSubmission | null {
  if (key === undefined) return null;
  if (!KEY.test(key)) {
    const message = `must be 1 to 255 printable characters, not ${quote(key)}`;
    throw new AppError("VALIDATION_FAILED", `Cannot accept the request: the header Idempotency-Key ${message}`);
  }
  return { ownerId, key, requestSha256: createHash("sha256").update(JSON.stringify(request)).digest("hex") };
}

/**
 * The record that a submission made when it came before.
 *
 * @throws AppError IDEMPOTENCY_CONFLICT when something else was submitted under its key.
 */
export async function findEarlier(db: Db, submission: NamedSubmission): Promise<Backtest | null> {
  const found = await findSubmission(db, submission, new Date(Date.now() - SUBMISSION_KEPT_MS));
  if (found === null || found.requestSha256 === submission.requestSha256) return found?.backtest ?? null;
  throw new AppError(
    "IDEMPOTENCY_CONFLICT",
    `Cannot accept the request: another one came with the Idempotency-Key ${quote(submission.key)}; choose a new key`,
  );
}
