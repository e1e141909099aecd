/** The test windows of a walk-forward optimization as one account that keeps its position from one to the next. */
import type { Optimization, OptimizationWindow } from "../../db/optimizations.ts";
import { pointAt } from "../../research/space.ts";
import { testStartOf, type TradedWindow } from "../../research/walk_forward.ts";
import { makeTask } from "../backtest/plan.ts";
import { type CandleServices, loadCandles } from "../backtest/run_candles.ts";
import { type MarketSettings, readSettings, type RunSettings } from "../backtest/run_settings.ts";
import { type Outcome, RunError } from "../common/outcome.ts";
import type { CarriedTests, CarryTask, PortfolioCarryTask } from "../common/protocol.ts";
import type { SandboxTask } from "../sandbox/task.ts";
import { loadPortfolio } from "../portfolio/load_portfolio.ts";
import type { CarriedPlan, CodeRuntime } from "./code_trials.ts";
import type { FindPoints } from "./points.ts";
import { listPortfolioDays } from "./portfolio_slice.ts";
import { listDays, rulesOf } from "./slice_plan.ts";

/** A window that has a best trial. */
type Chosen = OptimizationWindow & { readonly best: NonNullable<OptimizationWindow["best"]> };

/** Trades the tests, where such work is done. */
export interface RunCarry {
  readonly builtin: (task: CarryTask | PortfolioCarryTask) => Promise<Outcome<CarriedTests>>;
  /** @param reload Loads them again with more candles before the tests. */
  readonly code: (
    runtime: CodeRuntime,
    plan: CarriedPlan,
    reload: (lookback: number) => Promise<CarriedPlan>,
  ) => Promise<Outcome<CarriedTests>>;
}

/** The account of all tests. */
interface CarriedAccount extends TradedWindow {
  /** Share of the candles with a position. */
  readonly exposure: number | null;
}

/**
 * Trades the tests in one run: the parameters of each window from its test on, and those of the window before it where it has none.
 *
 * @returns Null where nothing is carried: no window has parameters, the strategy is an endpoint, or the run was stopped. The reason where
 * a user's code fails in it.
 * @throws {RunError} As loadCandles(), and where the run of a built-in strategy fails.
 */
export async function carryTests(
  services: CandleServices,
  record: Optimization,
  { find, carry }: { readonly find: FindPoints; readonly carry: RunCarry },
): Promise<CarriedAccount | { readonly reason: string } | null> {
  const { runtime, strategySlug, space, initialBalance } = record;
  const chosen = record.windows.filter((window): window is Chosen => window.best !== null);
  const [first, last] = [chosen[0], record.windows.at(-1)];
  if (record.walkForward?.carry !== true || first === undefined || last === undefined) return null;
  const settings = readSettings(record);
  const rules = rulesOf(record, settings);
  // Neighbours with equal parameters are one stage: nothing changes at the edge between them.
  const changed = chosen.filter(({ best }, i) => best.point !== chosen[i - 1]?.best.point);
  const points = Float64Array.from(changed, ({ best }) => best.point);
  const sorted = await find({ step: "sort", space, constraints: [], rules, points });
  if (sorted === null) return null;
  const dated = { ...record, startDate: testStartOf(first), endDate: last.testEnd };
  const lookback = Math.max(0, ...sorted.lookbacks);
  const stages = changed.map(({ best, ...dates }) => ({
    parameters: { ...rules.own, ...pointAt(space, best.point) },
    fromMs: Date.parse(testStartOf(dates)),
  }));
  const load = (wanted: number) =>
    settings.markets === null
      ? loadOne(services, dated, settings, wanted)
      : loadMany(services, dated, settings, { markets: settings.markets, lookback: wanted });
  const account = await load(lookback);
  const { task } = account;
  if (runtime !== null && (runtime.type === "remote" || "markets" in task)) return null;
  const planOf = (one: SandboxTask, wanted: number) => ({ task: one, stages, lookback: wanted });
  const outcome = runtime === null || "markets" in task
    ? await carry.builtin({ ...task, slug: strategySlug ?? "", stages })
    : await carry.code(
      runtime,
      planOf(task, lookback),
      async (wanted) => planOf((await loadOne(services, dated, settings, wanted)).task, wanted),
    );
  if (outcome.type === "failed") {
    if (runtime === null) throw new RunError(outcome.code, outcome.message);
    return { reason: `each test starts flat, because one account through all tests failed: ${outcome.message}` };
  }
  if (outcome.type === "broken") throw new Error(outcome.message);
  if (outcome.type !== "completed") return null;
  return {
    ...returnsOf(outcome.marks, initialBalance),
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
