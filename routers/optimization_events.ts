import { getOptimization, type Optimization } from "../db/optimizations.ts";
import type { OwnedKey } from "../db/backtests.ts";
import { AppError } from "./errors.ts";
import { awaitFinal, followRecord } from "./follow_record.ts";
import { optimizationNotFound } from "./optimization_records.ts";
import type { Context } from "./trpc.ts";

// Four times a second.
const PACE_MS = 250;

/** True if a record is final. */
export function hasOptimizationEnded({ status }: Optimization): boolean {
  return status !== "queued" && status !== "running";
}

/** A record now, and again after changes, at most four times a second, and at once after the last one. Ends as followRecord() does. */
export function followOptimization(ctx: Context, key: OwnedKey, signal: AbortSignal): AsyncGenerator<Optimization> {
  return followRecord({
    watch: (onChange, onEnd) => ctx.queue.watchOptimization(key.id, onChange, onEnd),
    read: () => getOptimization(ctx.db, key),
    hasEnded: hasOptimizationEnded,
    paceMs: PACE_MS,
  }, AbortSignal.any([signal, ctx.closing]));
}

/**
 * Waits until a record is final, at most `waitMs`, or until the signal is aborted.
 *
 * @returns The record now; null if it was deleted.
 */
export async function awaitOptimization(
  ctx: Context,
  key: OwnedKey,
  waitMs: number,
  signal: AbortSignal,
): Promise<Optimization | null> {
  return await awaitFinal({
    follow: (stop) => followOptimization(ctx, key, stop),
    read: () => getOptimization(ctx.db, key),
    hasEnded: hasOptimizationEnded,
    waitMs,
    signal: AbortSignal.any([signal, ctx.closing]),
  });
}

/**
 * As followOptimization(), for clients that take the end of the stream for the end of the record.
 *
 * @throws AppError UNAVAILABLE when the service closes first, OPTIMIZATION_NOT_FOUND when the record is deleted.
 */
export async function* followOptimizationToEnd(
  ctx: Context,
  row: Optimization,
  signal: AbortSignal,
): AsyncGenerator<Optimization> {
  let last = row;
  for await (const each of followOptimization(ctx, row, signal)) yield last = each;
  if (hasOptimizationEnded(last) || signal.aborted) return;
  if (!ctx.closing.aborted) throw optimizationNotFound(row.id);
  const message = `Cannot follow the optimization ${row.id}: the service is closing`;
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}
