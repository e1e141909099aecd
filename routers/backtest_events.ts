import { type Backtest, getBacktest, type OwnedKey } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { AppError, quote } from "./errors.ts";
import type { Context } from "./trpc.ts";

/** Whether nothing will change in a record any more. */
export function hasEnded(row: Backtest): boolean {
  return row.status !== "queued" && row.status !== "running";
}

/**
 * A record as it is now, and again whenever it has changed, whichever process changed it. Ends with the record's end, when it
 * is deleted, and when the signal is aborted or the service closes.
 */
export async function* followBacktest(ctx: Context, key: OwnedKey, signal: AbortSignal): AsyncGenerator<Backtest> {
  const stop = AbortSignal.any([signal, ctx.closing]);
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const unwatch = await ctx.queue.watchBacktest(key.id, wake);
  stop.addEventListener("abort", wake);
  try {
    while (!stop.aborted) {
      // A change from here on is seen in the next turn, one before in this.
      changed = Promise.withResolvers();
      const row = await look(ctx.db, key);
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
 * The same as followBacktest(), for who takes an end without a word for the record's.
 *
 * @throws AppError UNAVAILABLE when the service closes before, BACKTEST_NOT_FOUND when the record is deleted.
 */
export async function* followToEnd(ctx: Context, row: Backtest, signal: AbortSignal): AsyncGenerator<Backtest> {
  let last = row;
  for await (const each of followBacktest(ctx, row, signal)) yield last = each;
  if (hasEnded(last) || signal.aborted) return;
  if (!ctx.closing.aborted) throw notFound(row.id);
  const message = `Cannot follow the backtest ${row.id} any longer: the service is closing`;
  throw new AppError("UNAVAILABLE", message, { retryAfterSeconds: 1 });
}

export function notFound(id: string): AppError {
  return new AppError("BACKTEST_NOT_FOUND", `Cannot find the backtest ${quote(id)}`);
}

// Looks that begin when whoever hears of a change at the same time has asked, by database and record.
const looks = new WeakMap<Db, Map<string, Promise<Backtest | null>>>();

/** A record as it is from now on. However many follow it, they hear of a change together, and share one look at it. */
function look(db: Db, key: OwnedKey): Promise<Backtest | null> {
  const waiting = looks.get(db) ?? new Map<string, Promise<Backtest | null>>();
  looks.set(db, waiting);
  const name = `${key.ownerId} ${key.id}`;
  const shared = waiting.get(name) ?? Promise.resolve().then(() => {
    waiting.delete(name);
    return getBacktest(db, key);
  });
  waiting.set(name, shared);
  return shared;
}

/**
 * Waits for a record's end.
 *
 * @param row The record as it was a moment ago.
 * @returns As it is when it has ended, or after `waitMs`, or when the signal is aborted; null when it is deleted before.
 */
export async function awaitEnd(
  ctx: Context,
  row: Backtest,
  waitMs: number,
  signal: AbortSignal,
): Promise<Backtest | null> {
  const patience = new AbortController();
  const timer = setTimeout(() => patience.abort(), waitMs);
  const stop = AbortSignal.any([signal, ctx.closing, patience.signal]);
  let last = row;
  try {
    for await (const each of followBacktest(ctx, row, stop)) last = each;
    return hasEnded(last) || stop.aborted ? last : null;
  } finally {
    clearTimeout(timer);
  }
}
