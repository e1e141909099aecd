import { type Backtest, getBacktest, type OwnedKey } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { AppError, quote } from "./errors.ts";
import type { Context } from "./trpc.ts";

/** True if a record is final. */
export function hasEnded(row: Backtest): boolean {
  return row.status !== "queued" && row.status !== "running";
}

/**
 * A record now, and again after each change by any process. Ends when the record is final or deleted, the signal is aborted, or the
 * service closes.
 */
export async function* followBacktest(ctx: Context, key: OwnedKey, signal: AbortSignal): AsyncGenerator<Backtest> {
  const stop = AbortSignal.any([signal, ctx.closing]);
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const unwatch = await ctx.queue.watchBacktest(key.id, wake);
  stop.addEventListener("abort", wake);
  try {
    while (!stop.aborted) {
      // Before the look, so that no change between look and wait is missed.
      changed = Promise.withResolvers();
      const row = await readShared(ctx.db, key);
      if (row === null) return;
      yield row;
      if (hasEnded(row)) return;
      if (!stop.aborted) await changed.promise;
    }
  } finally {
    stop.removeEventListener("abort", wake);
    unwatch();
  }
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
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), waitMs);
  const stop = AbortSignal.any([signal, ctx.closing, timeout.signal]);
  let last: Backtest | null = null;
  try {
    for await (const each of followBacktest(ctx, key, stop)) last = each;
    if (last === null) return stop.aborted ? await getBacktest(ctx.db, key) : null;
    return hasEnded(last) || stop.aborted ? last : null;
  } finally {
    clearTimeout(timer);
  }
}
