import { type Backtest, getBacktest, type OwnedKey } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { AppError, quote } from "./errors.ts";
import { awaitFinal, followRecord } from "./follow_record.ts";
import type { Context } from "./trpc.ts";

/** True if a record is final. */
export function hasEnded(row: Backtest): boolean {
  return row.status !== "queued" && row.status !== "running";
}

/**
 * A record now, and again after each change by any process. Ends when the record is final or deleted, the signal is aborted, or the
 * service closes.
 */
export function followBacktest(ctx: Context, key: OwnedKey, signal: AbortSignal): AsyncGenerator<Backtest> {
  return followRecord({
    watch: (onChange) => ctx.queue.watchBacktest(key.id, onChange),
    read: () => readShared(ctx.db, key),
    hasEnded,
  }, AbortSignal.any([signal, ctx.closing]));
}

/**
 * As followBacktest(), for clients that take the end of the stream for the end of the record.
 *
 * @throws AppError UNAVAILABLE when the service closes first, BACKTEST_NOT_FOUND when the record is deleted.
 */
export async function* followToEnd(ctx: Context, row: Backtest, signal: AbortSignal): AsyncGenerator<Backtest> {
  let last = row;
  for await (const each of followBacktest(ctx, row, signal)) yield last = each;
  if (hasEnded(last) || signal.aborted) return;
  if (!ctx.closing.aborted) throw notFound(row.id);
  const message = `Cannot follow the backtest ${row.id}: the service is closing`;
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

export function notFound(id: string): AppError {
  return new AppError("BACKTEST_NOT_FOUND", `Cannot find the backtest ${quote(id)}`);
}

// Reads that have not begun yet, by database and record.
const pendingReads = new WeakMap<Db, Map<string, Promise<Backtest | null>>>();

/** Reads a record. All followers of it learn of a change at once, and share one read. */
function readShared(db: Db, key: OwnedKey): Promise<Backtest | null> {
  const waiting = pendingReads.get(db) ?? new Map<string, Promise<Backtest | null>>();
  pendingReads.set(db, waiting);
  const name = `${key.ownerId} ${key.id}`;
  const shared = waiting.get(name) ?? Promise.resolve().then(() => {
    waiting.delete(name);
    return getBacktest(db, key);
  });
  waiting.set(name, shared);
  return shared;
}

/**
 * Waits until a record is final, at most `waitMs`, or until the signal is aborted.
 *
 * @returns The record now; null if there is none, or none any more.
 */
export async function awaitEnd(
  ctx: Context,
  key: OwnedKey,
  waitMs: number,
  signal: AbortSignal,
): Promise<Backtest | null> {
  return await awaitFinal({
    follow: (stop) => followBacktest(ctx, key, stop),
    read: () => getBacktest(ctx.db, key),
    hasEnded,
    waitMs,
    signal: AbortSignal.any([signal, ctx.closing]),
  });
}
