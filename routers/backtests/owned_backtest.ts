import type { Backtest } from "../../db/backtests.ts";
import type { BacktestResult } from "../../engine/result.ts";
import type { RunMarket } from "../../workers/rows/write_result_rows.ts";
import { AppError, hintNearest, quote } from "../common/errors.ts";
import type { UserContext } from "../common/trpc.ts";
import { backtestRuns } from "./backtest_runs.ts";

/** One user's backtest. @throws AppError BACKTEST_NOT_FOUND */
export const mustGet = backtestRuns.find.bind(backtestRuns);

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

/**
 * The key of what belongs to one of the caller's backtests.
 *
 * @param instrument The one whose rows are wanted; all of them without it.
 * @throws AppError BACKTEST_NOT_FOUND, and as marketIn().
 */
export async function mustOwnRun({ db, user }: UserContext, id: string, instrument?: string) {
  const row = await mustGet(db, id, user.id);
  const key = { backtestId: row.id, ownerId: user.id, markets: marketsOf(row) };
  const market = marketIn(row, instrument);
  return market === undefined ? key : { ...key, market };
}

/**
 * The place of an instrument among a run's markets; undefined where none is named, and until the run has completed.
 *
 * @throws AppError VALIDATION_FAILED for an instrument that a completed run does not have.
 */
export function marketIn(row: Pick<Backtest, "result">, instrument: string | undefined): number | undefined {
  if (instrument === undefined || row.result === null) return undefined;
  const names = marketsOf(row).map((each) => each.instrument);
  const place = names.indexOf(instrument);
  if (place >= 0) return place;
  const message = names.length === 0
    ? "must be left out: the backtest is over one market"
    : `must be an instrument of the backtest, not ${quote(instrument)}${hintNearest(instrument, names)}`;
  throw new AppError("VALIDATION_FAILED", `Cannot list rows: /instrument ${message}`, {
    issues: [{ path: "/instrument", message }],
  });
}
