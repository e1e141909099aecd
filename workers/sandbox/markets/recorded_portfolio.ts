import type {
  MarketView,
  Period,
  PortfolioAccount,
  PortfolioOrders,
  PortfolioStrategy,
} from "../../../engine/portfolio/portfolio.ts";
import type { OrderBook } from "../../../engine/strategy.ts";

/** The moments of a strategy's targets, and a digest of the weights of each. */
export interface RecordedTargets {
  readonly now: readonly number[];
  readonly digest: readonly number[];
}

/** A strategy for many markets that remembers the targets of its first simulation: they become orders later. */
export class RecordedPortfolio implements PortfolioStrategy {
  readonly kind = "portfolio";
  readonly warmup: number;
  readonly every: Period | null;
  readonly targets = { now: new Array<number>(), digest: new Array<number>() } satisfies RecordedTargets;
  readonly #strategy: PortfolioStrategy;
  #simulations = 0;

  constructor(strategy: PortfolioStrategy) {
    this.warmup = strategy.warmup;
    this.every = strategy.every;
    this.#strategy = strategy;
  }

  prepare(markets: readonly MarketView[]): void {
    this.#simulations++;
    this.#strategy.prepare(markets);
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    if (this.#simulations > 1) return this.#strategy.decide(now, markets, account, orders);
    const { targets } = this;
    this.#strategy.decide(now, markets, account, {
      target(weights: Float64Array, minTrade?: number, tag?: string | null): void {
        targets.now.push(now);
        targets.digest.push(digestOf(weights));
        orders.target(weights, minTrade, tag);
      },
      of: (market: number): OrderBook => orders.of(market),
      watchFills: () => orders.watchFills(),
    });
  }
}

/** FNV-1a over the bits of numbers. */
function digestOf(values: Float64Array): number {
  const words = new Uint32Array(values.slice().buffer);
  let digest = 0x811c9dc5;
  for (const word of words) digest = Math.imul(digest ^ word, 0x01000193) >>> 0;
  return digest;
}
