/** A user's code over many markets with one account: an instance for each market. */
import type { BufferPool } from "../../../engine/buffer_pool.ts";
import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import type { PortfolioMarket, PortfolioRequest, RankedStrategy } from "../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import type { Account, OrderBook } from "../../../engine/strategy.ts";
import type { Integrity } from "../../../engine/result.ts";
import { RunError } from "../../common/outcome.ts";
import type { MarketsTask } from "../../common/protocol.ts";
import { candleMs, type Series } from "../candle_series.ts";
import { uncheckedIntegrity } from "../integrity.ts";
import { checkMarkets, type MarketsActs } from "./check_markets.ts";
import { RecordedPortfolio } from "./recorded_portfolio.ts";

/** The strategy of all markets, or one for each. */
type MarketsStrategy = PortfolioRequest["strategy"];

/**
 * One strategy for each market of a task, which fails by its market's name.
 *
 * @throws {RunError} When they are to be ranked by a score and have none.
 */
export function strategyForEach(
  { markets, positionsMax, rank }: MarketsTask,
  make: (market: number) => RankedStrategy,
): MarketsStrategy {
  const strategies = markets.map(({ id }, n) => markets.length === 1 ? make(n) : new NamedStrategy(id, make(n)));
  if (rank === "score" && strategies.every(({ score }) => score === undefined)) {
    throw new RunError(
      "STRATEGY_FAILED",
      "Cannot rank by score: the strategy has no function score; add one, or rank as listed",
    );
  }
  return { kind: "each", strategies, positionsMax, rank };
}

/** The longest warm-up of a run's strategies. */
export function warmupOf(strategy: MarketsStrategy): number {
  if (strategy.kind === "portfolio") return strategy.warmup;
  return strategy.strategies.reduce((most, { warmup }) => Math.max(most, warmup), 1);
}

/** The candles of a market as its strategy knows them. */
export function seriesOfMarket({ markets, timeframeMs }: MarketsTask, market: number): Series {
  return {
    timeframeMs: candleMs(timeframeMs),
    firstIndex: markets[market]!.firstIndex,
    markets: markets.length,
    inputs: markets[market]!.inputs ?? [],
  };
}

/** Runs a strategy over the markets of a task, and keeps its targets if it is one for all. @throws {RunError} When it fails, or the account cannot have its rules. */
export function simulateMarkets(
  { seed: _seed, positionsMax: _max, rank: _rank, ...settings }: MarketsTask,
  strategy: MarketsStrategy,
  control: Int32Array | null,
): MarketsActs {
  if (strategy.kind === "each") return { result: runPortfolio({ ...settings, strategy, control }), targets: null };
  const recorded = new RecordedPortfolio(strategy);
  return { result: runPortfolio({ ...settings, strategy: recorded, control }), targets: recorded.targets };
}

/** Checks a strategy by running new ones on the first candles alone. @param make Makes it, as for the run. */
export function checkStrategies(task: MarketsTask, acts: MarketsActs, make: () => MarketsStrategy): Integrity {
  if (task.checksIntegrity === false) return uncheckedIntegrity(acts.result);
  const again = (markets: readonly PortfolioMarket[]) => simulateMarkets({ ...task, markets }, make(), null);
  return checkMarkets(again, task, acts);
}

/** A strategy of one of many markets: its failures name the market. */
class NamedStrategy implements RankedStrategy {
  readonly warmup: number;
  readonly score?: (i: number) => number;
  readonly #id: string;
  readonly #strategy: RankedStrategy;

  constructor(id: string, strategy: RankedStrategy) {
    this.warmup = strategy.warmup;
    this.#id = id;
    this.#strategy = strategy;
    if (strategy.score !== undefined) this.score = (i) => this.#scoreOf(i);
  }

  prepare(candles: Candles, pool?: BufferPool | null, days?: TradingDayColumns | null): void {
    try {
      this.#strategy.prepare(candles, pool, days);
    } catch (error) {
      throw this.#name(error);
    }
  }

  decide(i: number, account: Account, book: OrderBook): void {
    try {
      this.#strategy.decide(i, account, book);
    } catch (error) {
      throw this.#name(error);
    }
  }

  #scoreOf(i: number): number {
    try {
      return this.#strategy.score?.(i) ?? NaN;
    } catch (error) {
      throw this.#name(error);
    }
  }

  #name(error: unknown): unknown {
    return error instanceof RunError ? new RunError(error.code, `${error.message} (in ${this.#id})`) : error;
  }
}
