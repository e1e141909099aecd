import type { Db } from "../../db/client.ts";
import { findStrategy, getVersion, schemaOf } from "../../db/strategies.ts";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { holdingReturns } from "../../engine/metrics/benchmark.ts";
import type { Metrics } from "../../engine/metrics/definitions.ts";
import {
  addCost,
  type ChangedRun,
  COST_MAX,
  hasCosts,
  listChangedRuns,
  measureTick,
} from "../../research/stress/changed_runs.ts";
import { leaveOut, measureRegimes } from "../../research/stress/days.ts";
import type { StressResult, StressRow } from "../../research/stress/stress_table.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { findDecider } from "../backtest/decider.ts";
import { makePlan, makeTask } from "../backtest/plan.ts";
import { loadCandles, type MarketData } from "../backtest/run_candles.ts";
import { readSettings, type RunSettings } from "../backtest/run_settings.ts";
import type { Runner } from "../backtest/runner.ts";
import { type Completed, type Failed, NOT_BEGUN, type Outcome, RunError } from "../common/outcome.ts";
import { findMarketsDecider } from "../portfolio/markets_decider.ts";
import { planPortfolio } from "../portfolio/portfolio_job.ts";
import { readDays, readTradePnls } from "../studies/stored_run.ts";
import type { StudiedBacktest, Study, StudyLimits, StudyServices } from "../studies/study_job.ts";

// Nothing else uses the runner.
const WAIT_MS = 60_000;
const COST_FIRST = 1e-4;
/** Between two costs that are tried; then the gap is halved so often. */
const COST_FACTOR = 4;
const COST_HALVINGS = 10;
const COST_RUNS = 1 + Math.ceil(Math.log(COST_MAX / COST_FIRST) / Math.log(COST_FACTOR)) + COST_HALVINGS;

export interface StressServices extends StudyServices {
  readonly runner: () => Runner;
}

/** Stress tests, for runStudyJob(): the backtest runs again with one change at a time. */
export function stressStudy(services: StressServices): Study<StressTest, StressResult> {
  return {
    kind: "stressTest",
    records: stressTestRecords,
    compute: (_, backtest, limits) => compute({ ...services, signal: limits.signal }, backtest, limits),
  };
}

async function compute(
  services: StressServices,
  backtest: StudiedBacktest,
  limits: StudyLimits,
): Promise<Outcome<{ readonly result: Omit<StressResult, "duration_ms"> }>> {
  const settings = readSettings(backtest);
  const market = await loadCandles(services, backtest, settings, 0);
  const schema = await findSchema(services.db, backtest);
  const changes = listChangedRuns(
    settings,
    schema,
    // Each market has ticks of its own.
    settings.markets === null ? measureTick(market.read.candles.close) : null,
  );
  const runs = new ChangedRuns(services, { backtest, settings }, limits, changes.length + COST_RUNS);
  const rows: StressRow[] = [];
  for (const change of changes) {
    const outcome = await runs.run(change);
    if (outcome.type !== "completed" && outcome.type !== "failed") return outcome;
    rows.push(toRow(change, outcome));
  }
  const [asRun] = rows;
  const breakEven = await findBreakEven(runs, changes[0]!, asRun?.figures?.total_return ?? null);
  if (runs.isStopped) return NOT_BEGUN;
  const days = { ...await readDays(services.db, backtest), benchmark: readHolding(backtest, settings, market) };
  const trades = await readTradePnls(services.db, backtest);
  const benchmark = days.benchmark?.length === days.returns.length ? days.benchmark : null;
  return {
    type: "completed",
    result: {
      rows: [...rows, ...leaveOut(days, trades, backtest.initialBalance)],
      regimes: measureRegimes({ ...days, benchmark }, trades),
      break_even_cost: breakEven,
      notes: describe(backtest, settings, { asRun, schema, benchmark }),
    },
  };
}

/** The parameters that a strategy declares; null where nobody has. */
async function findSchema(db: Db, { strategySlug: slug, strategyVersion: version, ownerId }: StudiedBacktest) {
  if (slug === null) return null;
  const builtin = findBuiltin(slug) ?? findPortfolioBuiltin(slug);
  if (builtin !== undefined) return { ...builtin.parameter_schema };
  const found = await findStrategy(db, { slug, userId: ownerId });
  if (found === null) return null;
  const ran = version === null ? null : await getVersion(db, { strategyId: found.strategy.id, version });
  return schemaOf(found.strategy, ran ?? found.latest);
}

function toRow({ group, name }: ChangedRun, outcome: Completed<{ readonly metrics: Metrics }> | Failed): StressRow {
  if (outcome.type === "failed") {
    return { group, name, figures: null, error: { code: outcome.code, message: outcome.message } };
  }
  const { total_return, sharpe, max_drawdown, trades } = outcome.metrics;
  return { group, name, figures: { total_return, sharpe, max_drawdown, trades }, error: null };
}

/** The cost on each fill at which the profit is gone, by trying: to about a thousandth of it. */
async function findBreakEven(runs: ChangedRuns, base: ChangedRun, own: number | null): Promise<number | null> {
  if (own === null || own <= 0) return null;
  const hasProfit = async (cost: number): Promise<boolean | null> => {
    const outcome = await runs.run({ ...base, execution: addCost(base.execution, cost) });
    return outcome.type === "completed" ? (outcome.metrics.total_return ?? -1) > 0 : null;
  };
  const most = COST_MAX - base.execution.commission.rate;
  let [low, high] = [0, Math.min(COST_FIRST, most)];
  for (let profit = await hasProfit(high); profit !== false; profit = await hasProfit(high)) {
    if (profit === null || high === most) return null;
    [low, high] = [high, Math.min(high * COST_FACTOR, most)];
  }
  for (let i = 0; i < COST_HALVINGS; i++) {
    const middle = (low + high) / 2;
    const profit = await hasProfit(middle);
    if (profit === null) return null;
    if (profit) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Runs of one backtest that differ in a little, one after the other. */
class ChangedRuns {
  readonly #services: StressServices;
  readonly #backtest: StudiedBacktest;
  readonly #settings: RunSettings;
  readonly #limits: StudyLimits;
  readonly #most: number;
  readonly #until: number;
  #done = 0;

  constructor(
    services: StressServices,
    { backtest, settings }: { readonly backtest: StudiedBacktest; readonly settings: RunSettings },
    limits: StudyLimits,
    most: number,
  ) {
    this.#services = services;
    this.#backtest = backtest;
    this.#settings = settings;
    this.#limits = limits;
    this.#most = most;
    this.#until = performance.now() + limits.deadlineMs;
  }

  get isStopped(): boolean {
    return this.#limits.signal.aborted;
  }

  /** Runs the backtest once more; one that comes too late fails as STRATEGY_TIMED_OUT. */
  async run(
    { execution, own }: Pick<ChangedRun, "execution" | "own">,
  ): Promise<Outcome<{ readonly metrics: Metrics }>> {
    const { signal, onProgress } = this.#limits;
    const deadlineMs = this.#until - performance.now();
    if (deadlineMs <= 0) {
      const message = `Cannot run it: the stress test used up its ${this.#limits.deadlineMs / 1000} s before`;
      return { type: "failed", code: "STRATEGY_TIMED_OUT", message };
    }
    try {
      const limits = { deadlineMs, waitMs: WAIT_MS, signal, onProgress: () => {} };
      const outcome = await this.#attempt({ ...this.#settings, execution, own }, limits);
      onProgress(++this.#done / this.#most);
      if (outcome.type !== "completed") return signal.aborted ? NOT_BEGUN : outcome;
      return { type: "completed", metrics: outcome.result.metrics };
    } catch (error) {
      if (error instanceof RunError) return error.outcome;
      throw error;
    }
  }

  async #attempt(settings: RunSettings, limits: Parameters<Runner["run"]>[1]) {
    const [services, backtest] = [this.#services, this.#backtest];
    const runner = services.runner();
    const { markets } = settings;
    if (markets !== null) {
      const decider = await findMarketsDecider(services.db, backtest, settings);
      const load = async (lookback: number) =>
        (await planPortfolio(services, backtest, settings, markets, { ...decider, lookback })).run;
      return await runner.runPortfolio(await load(decider.lookback), limits, load);
    }
    const decider = await findDecider(services.db, backtest, settings);
    const load = async (lookback: number) => {
      const market = await loadCandles(services, backtest, settings, lookback);
      return makePlan(backtest, settings, { ...decider, lookback }, market).run;
    };
    return await runner.run(await load(decider.lookback), limits, load);
  }
}

/** Daily returns of holding the benchmark over the backtest's range. */
function readHolding(backtest: StudiedBacktest, settings: RunSettings, market: MarketData): Float64Array {
  const { candles: { time, open, close }, assetClass, tradingDays = null, benchmark = null } = makeTask(
    backtest,
    settings,
    market,
    0,
  );
  return holdingReturns({ time, open, close, assetClass, tradingDays, benchmark });
}

function describe(
  { result: { metrics } }: StudiedBacktest,
  { execution }: RunSettings,
  { asRun, schema, benchmark }: {
    readonly asRun: StressRow | undefined;
    readonly schema: object | null;
    readonly benchmark: Float64Array | null;
  },
): string[] {
  const same = asRun?.figures?.total_return === metrics.total_return;
  return [
    ...(same ? [] : ["The backtest runs otherwise today: its candles, its code or the engine has changed since"]),
    ...(hasCosts(execution) ? [] : ["The backtest has no costs, so that multiples of them change nothing"]),
    ...(schema === null ? ["The strategy declares no parameters, so that none is moved"] : []),
    ...(benchmark === null
      ? ["The benchmark's days are not those of the backtest: there are regimes by year alone"]
      : []),
  ];
}
