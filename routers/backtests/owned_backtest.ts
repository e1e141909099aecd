import { z } from "zod";
import { type Backtest, getBacktest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import type { BacktestResult } from "../../engine/result.ts";
import { notFound } from "./backtest_events.ts";
import { AppError } from "../errors.ts";
import type { Context, User } from "../trpc.ts";

// Any text is looked up: an id that is no UUID does not exist, like any other unknown id.
export const idSchema = z.string().max(100);

/** One user's backtest. @throws AppError BACKTEST_NOT_FOUND */
export async function mustGet(db: Db, id: string, ownerId: string): Promise<Backtest> {
  const row = await getBacktest(db, { id: requireKnownId(id), ownerId });
  if (row === null) throw notFound(id);
  return row;
}

/** The id, if there may be a record of it. @throws AppError BACKTEST_NOT_FOUND */
function requireKnownId(id: string): string {
  if (!z.uuid().safeParse(id).success) throw notFound(id);
  return id;
}

/** A backtest that has completed. */
export type CompletedBacktest = Backtest & { readonly result: BacktestResult };

/**
 * The backtest, if it has a result.
 *
 * @param act The verb of the message, such as `compare`.
 * @throws AppError NOT_COMPLETED
 */
export function requireCompleted(row: Backtest, act: string): CompletedBacktest {
  const { id, status, result } = row;
  if (result !== null) return { ...row, result };
  const advice = status === "queued" || status === "running" ? "wait for its end" : "it has no result";
  throw new AppError("NOT_COMPLETED", `Cannot ${act} the backtest ${id}: it is ${status}; ${advice}`);
}

/** The key of what belongs to one of the caller's backtests. @throws AppError BACKTEST_NOT_FOUND */
export async function mustOwnRun({ db, user }: Context & { readonly user: User }, id: string) {
  return { backtestId: (await mustGet(db, id, user.id)).id, ownerId: user.id };
}
