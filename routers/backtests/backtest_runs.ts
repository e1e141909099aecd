import { type Backtest, backtestRecords } from "../../db/backtests.ts";
import { checkBacktest } from "./backtest_records.ts";
import { Runs } from "../runs/runs.ts";

/** Backtests, as their owners find and follow them. */
export const backtestRuns = new Runs<Backtest>(backtestRecords, {
  notFound: "BACKTEST_NOT_FOUND",
  check: checkBacktest,
});
