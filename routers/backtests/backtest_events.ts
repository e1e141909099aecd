import { type Backtest, getBacktest, type OwnedKey } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { AppError, quote } from "../errors.ts";
import { RecordFollower } from "../runs/record_follower.ts";

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

/** Follows backtests. */
export const backtestFollower = new RecordFollower<Backtest>({
  name: "the backtest",
  watch: ({ queue }, id, onChange) => queue.watchBacktest(id, onChange),
  read: ({ db }, key) => readShared(db, key),
  notFound,
});
