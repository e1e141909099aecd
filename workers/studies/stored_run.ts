/** The days and the trades of a completed backtest, as they are stored. */
import type { Db } from "../../db/client.ts";
import { readEquity } from "../../db/equity.ts";
import { listTrades } from "../../db/row_pages.ts";
import { periodReturns } from "../../engine/metrics/period_returns.ts";
import { daysOfRun } from "../../market/calendar/run_days.ts";
import { RunError } from "../common/outcome.ts";
import type { StudiedBacktest } from "./study_job.ts";

const TRADES_AT_ONCE = 10_000;
const YEAR_DAYS = 365;

/** A backtest's returns by trading day, as the metrics have them; `time` is 00:00 UTC of each. @throws {RunError} NO_DATA */
export async function readDays(db: Db, backtest: StudiedBacktest) {
  const { id: backtestId, ownerId, initialBalance, result, parameters } = backtest;
  const curve = await readEquity(db, { backtestId, ownerId });
  if (curve === null) throw new RunError("NO_DATA", "Cannot study the backtest: its equity is gone");
  const { time, equity } = curve;
  const tradingDays = daysOfRun(result, parameters["timeframe"], time);
  const days = periodReturns({ time, equity, close: equity, tradingDays, initialBalance }, "daily");
  const { periodsPerYear, riskFreeRate } = result.execution;
  return {
    time: days.time.slice(),
    returns: days.return.slice(),
    periodsPerYear: periodsPerYear ?? YEAR_DAYS,
    riskFreeRate,
  };
}

/** All of a backtest's trades, without their orders; times in milliseconds since 1970, null while open. */
export async function readTradePnls(db: Db, { id: backtestId, ownerId }: StudiedBacktest) {
  const all: { readonly entryTime: number; readonly exitTime: number | null; readonly pnl: number }[] = [];
  for (let after = 0;; after += TRADES_AT_ONCE) {
    const trades = await listTrades(db, { backtestId, ownerId, after, limit: TRADES_AT_ONCE });
    for (const { entryTime, exitTime, pnl } of trades) {
      all.push({ entryTime: entryTime.getTime(), exitTime: exitTime?.getTime() ?? null, pnl });
    }
    if (trades.length < TRADES_AT_ONCE) return all;
  }
}
