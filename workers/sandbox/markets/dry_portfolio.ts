/** A strategy that decides on many markets, tried on made-up ones. */
import { resolveExecution, withPeriodsPerYear } from "../../../engine/execution.ts";
import type {
  MarketView,
  PortfolioAccount,
  PortfolioMarket,
  PortfolioOrders,
  PortfolioStrategy,
} from "../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { checkOrders } from "../integrity.ts";
import { SAMPLE_TIMEFRAME_MS } from "../sample_candles.ts";
import { sampleMarkets } from "../sample_markets.ts";
import type { DryRun } from "../task.ts";

const BALANCE = 10_000;

/** Runs a strategy over three made-up markets. @param make Makes it. @throws Whatever it throws. */
export function runPortfolioDry(
  make: (markets: readonly PortfolioMarket[], instants: Float64Array) => PortfolioStrategy,
): DryRun {
  const markets = sampleMarkets();
  const { time } = markets[0]!.candles;
  const strategy = new TimedPortfolio(make(markets, time.map((open) => open + SAMPLE_TIMEFRAME_MS)));
  const result = runPortfolio({
    markets,
    timeframeMs: SAMPLE_TIMEFRAME_MS,
    initialBalance: BALANCE,
    execution: withPeriodsPerYear(resolveExecution({}, "crypto"), "crypto", SAMPLE_TIMEFRAME_MS),
    strategy,
    control: null,
  });
  return {
    warmup: strategy.warmup,
    candles: time.length,
    orders: result.orders.count,
    refused: checkOrders(result),
    notes: result.notes,
    nanosecondsPerCandle: Math.round(strategy.decisionsMs * 1e6 / time.length),
    decidesOn: "markets",
  };
}

/** Times a strategy's decisions. */
class TimedPortfolio implements PortfolioStrategy {
  readonly kind = "portfolio";
  readonly warmup: number;
  readonly every: PortfolioStrategy["every"];
  decisionsMs = 0;
  readonly #strategy: PortfolioStrategy;

  constructor(strategy: PortfolioStrategy) {
    this.warmup = strategy.warmup;
    this.every = strategy.every;
    this.#strategy = strategy;
  }

  prepare(markets: readonly MarketView[]): void {
    this.#strategy.prepare(markets);
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    const begun = performance.now();
    this.#strategy.decide(now, markets, account, orders);
    this.decisionsMs += performance.now() - begun;
  }
}
