/** The test windows of a walk-forward optimization as one account that keeps its position from one to the next. */
import type { Optimization, OptimizationWindow } from "../../db/optimizations.ts";
import { pointAt } from "../../research/space.ts";
import { testStartOf, type TradedWindow } from "../../research/walk_forward.ts";
import { makeTask } from "../backtest/plan.ts";
import { type CandleServices, loadCandles } from "../backtest/run_candles.ts";
import { type MarketSettings, readSettings, type RunSettings } from "../backtest/run_settings.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { CarriedTests, CarryTask, PortfolioCarryTask } from "../common/protocol.ts";
import { loadPortfolio } from "../portfolio/load_portfolio.ts";
import type { FindPoints } from "./points.ts";
import { listPortfolioDays } from "./portfolio_slice.ts";
import { listDays, rulesOf } from "./slice_plan.ts";

/** A window that has a best trial. */
type Chosen = OptimizationWindow & { readonly best: NonNullable<OptimizationWindow["best"]> };

/** Trades the tests, where such work is done. */
export type RunCarry = (task: CarryTask | PortfolioCarryTask) => Promise<Outcome<CarriedTests>>;

/** The account of all tests. */
interface CarriedAccount extends TradedWindow {
  /** Share of the candles with a position. */
  readonly exposure: number | null;
}

/**
 * Trades the tests in one run: the parameters of each window from its test on, and those of the window before it where it has none.
 *
 * @returns Null where nothing is carried: no window has parameters, the strategy is code, or the run was stopped.
 * @throws {RunError} As loadCandles().
 */
export async function carryTests(
  services: CandleServices,
  record: Optimization,
  { find, carry }: { readonly find: FindPoints; readonly carry: RunCarry },
): Promise<CarriedAccount | null> {
  const chosen = record.windows.filter((window): window is Chosen => window.best !== null);
  const [first, last] = [chosen[0], record.windows.at(-1)];
  if (record.walkForward?.carry !== true || record.runtime !== null || first === undefined || last === undefined) {
    return null;
  }
  const settings = readSettings(record);
  const rules = rulesOf(record, settings);
  // Neighbours with equal parameters are one stage: nothing changes at the edge between them.
  const changed = chosen.filter(({ best }, i) => best.point !== chosen[i - 1]?.best.point);
  const points = Float64Array.from(changed, ({ best }) => best.point);
  const sorted = await find({ step: "sort", space: record.space, constraints: [], rules, points });
  if (sorted === null) return null;
  const dated = { ...record, startDate: testStartOf(first), endDate: last.testEnd };
  const lookback = Math.max(0, ...sorted.lookbacks);
  const stages = changed.map(({ best, ...dates }) => ({
    parameters: { ...rules.own, ...pointAt(record.space, best.point) },
    fromMs: Date.parse(testStartOf(dates)),
  }));
  const account = settings.markets === null
    ? await loadOne(services, dated, settings, lookback)
    : await loadMany(services, dated, settings, { markets: settings.markets, lookback });
  const outcome = await carry({ ...account.task, slug: record.strategySlug ?? "", stages });
  if (outcome.type === "failed") throw new RunError(outcome.code, outcome.message);
  if (outcome.type === "broken") throw new Error(outcome.message);
  if (outcome.type !== "completed") return null;
  return {
    ...returnsOf(outcome.marks, record.initialBalance),
    dates: account.days,
    trainAnnualReturn: null,
    exposure: outcome.exposure,
  };
}

async function loadOne(services: CandleServices, dated: Optimization, settings: RunSettings, lookback: number) {
  const market = await loadCandles(services, dated, settings, lookback);
  const range = await loadCandles(services, dated, settings, 0);
  return { task: makeTask(dated, settings, market, 0), days: listDays(makeTask(dated, settings, range, 0)) };
}

async function loadMany(
  services: CandleServices,
  dated: Optimization,
  settings: RunSettings,
  { markets, lookback }: { readonly markets: MarketSettings; readonly lookback: number },
) {
  const { task: { seed: _seed, ...task } } = await loadPortfolio(services, dated, settings, { markets, lookback });
  const range = await loadPortfolio(services, dated, settings, { markets, lookback: 0 });
  return { task, days: listPortfolioDays(range.task) };
}

/** Daily returns until equity reaches zero, with the marks that they lead to. */
function returnsOf(marks: Float64Array, initialBalance: number): Pick<TradedWindow, "returns" | "marks"> {
  const returns: number[] = [];
  for (let before = initialBalance; returns.length < marks.length && before > 0; before = marks[returns.length - 1]!) {
    returns.push(marks[returns.length]! / before - 1);
  }
  return { returns: Float64Array.from(returns), marks: marks.subarray(0, returns.length) };
}
