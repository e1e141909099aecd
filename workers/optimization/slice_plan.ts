import type { Optimization } from "../../db/optimizations.ts";
import { DAY_MS } from "../../engine/time/durations.ts";
import { sampleDaily } from "../../engine/metrics/daily.ts";
import { isMetricName, type NumericMetricName } from "../../engine/metrics/definitions.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { makeTask } from "../backtest/plan.ts";
import type { RunSettings } from "../backtest/run_settings.ts";
import { type CandleServices, loadCandles, type MarketData } from "../backtest/run_candles.ts";
import { RunError } from "../common/outcome.ts";
import type { PointRules, TrialsTask } from "../common/protocol.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import { sliceMs } from "./divide.ts";
import type { Stretch } from "./points.ts";
import type { Part } from "./windows.ts";

// Beyond this many trials, an optimization keeps the daily returns of every second, third, … one.
const RETURNS_TRIALS_MAX = 10_000;
// A transaction of more bytes would hold up the others of an embedded database.
const RETURNS_MAX = 250_000;

/** The candles and settings of the trials of a slice. */
export interface SlicePlan {
  readonly task: SandboxTask & TrialsTask;
  /** Candles that were wanted before the range. */
  readonly lookbackWanted: number;
  /** Of all candles in its range, hexadecimal; independent of the trials' lookback. */
  readonly dataSha256: string;
  /** The trading days of a test window, in days since 1970; null elsewhere. */
  readonly dates: readonly number[] | null;
  /** Finds the trading days of its range, in days since 1970. */
  readonly days: () => number[];
}

/** The rules by which points of an optimization are trials. @throws {RunError} STRATEGY_FAILED */
export function rulesOf({ runtime, strategySlug }: Optimization, { own, execution }: RunSettings): PointRules {
  if (runtime !== null) {
    return { own, execution, builtin: null, lookback: Math.max(runtime.minCandles, runtime.lookbackCandles) };
  }
  const slug = strategySlug ?? "";
  const lookback = findBuiltin(slug)?.lookback_candles ?? (findPortfolioBuiltin(slug) && 0);
  if (lookback === undefined) throw new RunError("STRATEGY_FAILED", `Cannot find the strategy ${strategySlug}`);
  return { own, execution, builtin: slug, lookback };
}

/**
 * Loads the candles of a stretch's trials, of which there is one at least.
 *
 * @param part Its dates, instead of the record's.
 * @param lookbackMin Candles before the range that they turned out to ask for.
 * @throws {RunError} As loadCandles().
 */
export async function planSlice(
  services: CandleServices,
  record: Optimization,
  settings: RunSettings,
  { trials }: Pick<Stretch, "trials">,
  part: Part,
  lookbackMin = 0,
): Promise<SlicePlan> {
  const lookback = trials.reduce((most, trial) => Math.max(most, trial.lookback), lookbackMin);
  const dated = { ...record, startDate: part.startDate, endDate: part.endDate };
  // Views of one read: the first identifies the candles, whatever the lookback.
  const [range, market] = await Promise.all([
    loadCandles(services, dated, settings, 0),
    loadCandles(services, dated, settings, lookback),
  ]);
  const days = () => listDays(makeTask(record, settings, range, 0));
  return {
    task: {
      ...makeTask(record, settings, market, 0),
      ...trialsTask(record, settings, { trials, part }),
    },
    lookbackWanted: lookback,
    dataSha256: identify(range),
    dates: part.kind === "test" ? days() : null,
    days,
  };
}

/** The part of a slice that does not depend on its candles. */
export function trialsTask(
  record: Optimization,
  { own }: RunSettings,
  { trials, part }: Pick<Stretch, "trials"> & { readonly part: Part },
): TrialsTask {
  return {
    trials,
    own,
    budgetMs: sliceMs(record),
    returnsMax: RETURNS_MAX,
    ...chooseReturns(record, part),
    objective: requireNumeric(record.objective),
    direction: record.direction,
  };
}

/** The days with candles, by the rules by which a run's daily returns are sampled. */
export function listDays({ candles: { time }, assetClass = null, tradingDays = null }: SandboxTask): number[] {
  const flat = new Float64Array(time.length).fill(1);
  const days = { time, equity: flat, close: flat, assetClass, tradingDays, initialBalance: 1 };
  return Array.from(sampleDaily(days).dates, (date) => date / DAY_MS);
}

/** A training keeps no daily returns, and a test all of them: they become the account's. */
function chooseReturns({ points }: Optimization, { kind }: Part) {
  if (kind === "train") return { returnsStride: Number.MAX_SAFE_INTEGER };
  if (kind === "test") return { returnsStride: 1 };
  return { returnsStride: Math.max(1, Math.ceil(points / RETURNS_TRIALS_MAX)) };
}

function identify({ read, finer, benchmark }: MarketData): string {
  return [read.sha256, finer?.sha256 ?? "", benchmark?.read.sha256 ?? ""].join(" ").trim();
}

/** The metric by which trials are ranked. */
function requireNumeric(name: string): NumericMetricName {
  if (isMetricName(name) && name !== "start" && name !== "end") return name;
  throw new Error(`Cannot rank trials by ${name}: it is no metric that is a number`);
}
