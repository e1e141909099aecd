/** Portfolios that a person can work out on paper. */
import { type Execution, type ExecutionRequest, resolveExecution } from "../../../engine/execution.ts";
import type { PortfolioMarket, PortfolioRequest } from "../../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { newDraft, type Strategy } from "../../../engine/strategy.ts";
import { candlesOf, type Row } from "../market.ts";

export const DAY_MS = 86_400_000;

/** A market of one exchange, with daily candles. */
export function marketOf(id: string, rows: readonly Row[], more: Partial<PortfolioMarket> = {}): PortfolioMarket {
  return { id, symbol: id, exchange: "X", candles: candlesOf(rows), firstIndex: 0, ...more };
}

/** Candles that open at one price and do not move from it. */
export const still = (...prices: number[]): Row[] => prices.map((price) => [price, price, price, price]);

/** Execution in steps of a hundredth of a unit. */
export function execution(request: ExecutionRequest = {}): Execution {
  return resolveExecution({ quantityStep: 0.01, ...request }, "crypto");
}

/** Runs an account of 1000 over daily candles. */
export function runOf(
  markets: readonly PortfolioMarket[],
  strategy: PortfolioRequest["strategy"],
  more: Partial<PortfolioRequest> = {},
) {
  return runPortfolio({
    markets,
    timeframeMs: DAY_MS,
    initialBalance: 1000,
    execution: execution(),
    strategy,
    control: null,
    ...more,
  });
}

/** Buys once at the close of candle `at`, and leaves at that of `until`. */
export function holder(at = 0, until = Infinity, fields = {}): Strategy {
  return {
    warmup: 1,
    prepare() {},
    decide(i, _account, book) {
      if (i === at) book.place({ ...newDraft(), ...fields });
      if (i === until) book.close(1, null);
    },
  };
}

/** A strategy for each market. */
export const each = (
  strategies: readonly Strategy[],
  positionsMax = strategies.length,
): PortfolioRequest["strategy"] => ({
  kind: "each",
  strategies,
  positionsMax,
  rank: "listed",
});
