import type { Backtest } from "../../db/backtests.ts";
import type { BacktestResult } from "../../engine/result.ts";
import type { RunMarket } from "../../workers/rows/write_result_rows.ts";
import { AppError } from "../common/errors.ts";
import type { UserContext } from "../common/trpc.ts";
import { backtestRuns } from "./backtest_runs.ts";

/** One user's backtest. @throws AppError BACKTEST_NOT_FOUND */
export const mustGet = backtestRuns.find.bind(backtestRuns);

/** A backtest that has completed. */
export type CompletedBacktest = Backtest & { readonly result: BacktestResult };

/** The backtest, if it has a result. @param act The verb of the message, such as `compare`. @throws AppError NOT_COMPLETED */
export function requireCompleted(row: Backtest, act: string): CompletedBacktest {
  const { id, status, result } = row;
  if (result !== null) return { ...row, result };
  const advice = status === "queued" || status === "running" ? "wait for its end" : "it has no result";
  throw new AppError("NOT_COMPLETED", `Cannot ${act} the backtest ${id}: it is ${status}; ${advice}`);
}

/** The markets of a completed run, in their order; none for a run over one. */
export function marketsOf({ result }: Pick<Backtest, "result">): readonly RunMarket[] {
  return result?.portfolio?.contributions.map(({ instrument, currency }) =>
    currency === undefined ? { instrument } : { instrument, currency }
  ) ?? [];
}

/** The key of what belongs to one of the caller's backtests. @throws AppError BACKTEST_NOT_FOUND */
export async function mustOwnRun({ db, user }: UserContext, id: string) {
  const row = await mustGet(db, id, user.id);
  return { backtestId: row.id, ownerId: user.id, markets: marketsOf(row) };
}
