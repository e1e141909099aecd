/** One account over many markets that trades the test windows of a walk-forward optimization one after the other. */
import type { BufferPool } from "../../engine/buffer_pool.ts";
import type {
  MarketView,
  PortfolioAccount,
  PortfolioOrders,
  PortfolioRequest,
  PortfolioStrategy,
} from "../../engine/portfolio/portfolio.ts";
import { findRows } from "../../engine/portfolio/portfolio_rows.ts";
import { runPortfolio } from "../../engine/portfolio/run_portfolio.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import type { Outcome } from "../common/outcome.ts";
import type { CarriedTests, PortfolioCarryTask } from "../common/protocol.ts";
import { stageBuiltin } from "./builtin_carry.ts";

/**
 * Trades all windows in one run.
 *
 * @throws {RunStopped} When the control words ask for it.
 */
export function runPortfolioCarry(
  task: PortfolioCarryTask,
  control: Int32Array,
  pool: BufferPool,
): Outcome<CarriedTests> {
  const { slug, stages, positionsMax: _max, rank: _rank, ...settings } = task;
  if (stages.length === 0) return { type: "broken", message: "there is no window to trade" };
  const strategy = stage(task, pool);
  if (strategy === null) return { type: "broken", message: `there is no built-in strategy ${slug}` };
  const { metrics, equity } = runPortfolio({ ...settings, strategy, control, pool });
  const { days } = findRows(settings);
  const marks = Float64Array.from(days.ends, (end) => equity[end - 1]!);
  return { type: "completed", exposure: metrics.exposure, marks };
}

/** The strategies of all stages as one; null where there is no such built-in strategy. */
function stage(task: PortfolioCarryTask, pool: BufferPool): PortfolioRequest["strategy"] | null {
  const { slug, stages, markets, positionsMax, rank, ...settings } = task;
  const portfolio = findPortfolioBuiltin(slug);
  if (portfolio !== undefined) {
    const made = stages.map(({ parameters, fromMs }) => ({ after: fromMs, strategy: portfolio.create(parameters) }));
    return made.length === 1 ? made[0]!.strategy : new StagedPortfolio(made);
  }
  const builtin = findBuiltin(slug);
  if (builtin === undefined) return null;
  const strategies = markets.map(({ candles, firstIndex, tradingDays = null, finer = null }) => {
    const own = { ...settings, candles, firstIndex, tradingDays, finer, assetClass: settings.assetClass ?? null };
    return stageBuiltin(builtin, stages, own, pool);
  });
  return { kind: "each", strategies, positionsMax, rank };
}

/** A strategy and the instant after which it decides; that of the first one means nothing. */
interface PortfolioStage {
  readonly after: number;
  readonly strategy: PortfolioStrategy;
}

/** Hands the account from one strategy to the next, which is asked at the first close of its window. */
class StagedPortfolio implements PortfolioStrategy {
  readonly kind = "portfolio";
  readonly warmup: number;
  readonly every: PortfolioStrategy["every"];
  readonly later: NonNullable<PortfolioStrategy["later"]>;
  readonly #stages: readonly PortfolioStage[];
  #at = 0;

  constructor(stages: readonly PortfolioStage[]) {
    const [first, ...later] = stages;
    this.#stages = stages;
    this.warmup = first!.strategy.warmup;
    this.every = first!.strategy.every;
    this.later = later.map(({ after, strategy }) => ({ after, every: strategy.every }));
  }

  prepare(markets: readonly MarketView[]): void {
    this.#at = 0;
    this.#stages[0]!.strategy.prepare(markets);
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    for (
      let next = this.#stages[this.#at + 1];
      next !== undefined && now > next.after;
      next = this.#stages[this.#at + 1]
    ) {
      this.#at++;
      next.strategy.prepare(markets);
    }
    const { strategy } = this.#stages[this.#at]!;
    if (markets.some(({ i }) => i >= strategy.warmup - 1)) strategy.decide(now, markets, account, orders);
  }
}
