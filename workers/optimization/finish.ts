import { readScanAssetClasses } from "../../db/scan_markets.ts";
import { encodeSeries } from "../../db/series.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { withPeriodsPerYear } from "../../engine/execution.ts";
import { DAY_MS, fixedMs, isTimeframe } from "../../market/timeframes.ts";
import { candleMs } from "../sandbox/candle_series.ts";
import { candleAxesOf } from "../../research/candle_axes.ts";
import { readSettings } from "../backtest/run_settings.ts";
import { retryOnDatabaseFault } from "../common/retry.ts";
import { traceStep } from "../common/telemetry.ts";
import type { TakenJob } from "../jobs/jobs.ts";
import type { RunCarry } from "./carried_tests.ts";
import { explainNoBest, readHolding, readTrials } from "./luck.ts";
import { findIn, type OptimizationServices } from "./optimization_services.ts";
import { walkAccount } from "./walked_account.ts";

/** Ends an optimization of which all trials are done: measures their luck, and walks its tests. */
export async function finish(
  services: OptimizationServices,
  job: TakenJob,
  record: Optimization,
  signal: AbortSignal,
): Promise<void> {
  const { db, records, runner, deadlineMs } = services;
  const rates = await findRates(services, record);
  const holding = await traceStep("load candles", () => readHolding(services, record));
  const trials = await traceStep("read trials", () => readTrials(db, record, { ...rates, holding }, signal));
  if (signal.aborted) return await records.giveBack(job);
  const outcome = trials === null ? null : await traceStep("measure luck", () => runner.measureLuck(trials, signal));
  if (outcome?.type === "stopped") return await records.giveBack(job);
  if (outcome?.type === "broken") throw new Error(outcome.message);
  const report = outcome?.type === "completed"
    ? { overfitting: outcome.overfitting, luck: outcome.luck }
    : await explainNoBest(db, record, rates.periodsPerYear, signal);
  if (signal.aborted) return await records.giveBack(job);
  const within = { deadlineMs, signal };
  const carry: RunCarry = {
    builtin: (task) => runner.carry(task, within),
    code: (runtime, plan, reload) => runner.carryCode(runtime, plan, within, reload),
  };
  const find = findIn(runner, signal);
  const walked = await traceStep("walk", () => walkAccount(services, record, rates, { find, carry }));
  if (signal.aborted) return await records.giveBack(job);
  const splits = outcome?.type === "completed" ? outcome.splits : null;
  const compared = trials?.benchmark ?? null;
  const series = [
    ...(splits === null ? [] : [encodeSeries("splits", { ...splits })]),
    ...(compared === null ? [] : [encodeSeries("benchmark", { returns: compared })]),
    ...(walked === null ? [] : [encodeSeries("account", { ...walked.days })]),
  ];
  const end = { report, outOfSample: walked?.outOfSample ?? null, series };
  await retryOnDatabaseFault(signal, () => records.complete(job, record.id, end));
}

/** The rates of an optimization's figures. Over several kinds of markets or timeframes, the days of that which has most count. */
async function findRates({ db, candles }: OptimizationServices, record: Optimization) {
  const { timeframe, execution } = readSettings(record);
  const assetClasses = record.scan === null
    ? [(await candles.findInstrument(record))?.assetClass ?? null]
    : await readScanAssetClasses(db, record.id);
  const axis = candleAxesOf(record.space).find(({ name }) => name === "timeframe");
  const timeframes = axis?.values.map(String).filter(isTimeframe) ?? [timeframe];
  const all = assetClasses.flatMap((assetClass) =>
    timeframes.map((each) => withPeriodsPerYear(execution, assetClass, fixedMs(each)))
  );
  const periods = all.flatMap(({ periodsPerYear }) => periodsPerYear ?? []);
  return {
    periodsPerYear: periods.length === 0 ? NaN : Math.max(...periods),
    riskFreeRate: execution.riskFreeRate,
    // Of the shortest timeframe, which has the most returns in a year.
    daysPerReturn: Math.max(1, Math.min(...timeframes.map((each) => candleMs(fixedMs(each)) / DAY_MS))),
  };
}
