import type {
  MarketView,
  Period,
  PortfolioAccount,
  PortfolioOrders,
  PortfolioStrategy,
} from "../../../engine/portfolio/portfolio.ts";

/** A strategy for many markets of which each simulation has a new instance, which must not know the last one. */
export abstract class InstancePortfolio<Guest extends Pick<PortfolioStrategy, "warmup" | "every">>
  implements PortfolioStrategy {
  readonly kind = "portfolio";
  readonly warmup: number;
  readonly every: Period | null;
  readonly #make: () => Guest;
  #first: Guest | null;
  #player: Pick<PortfolioStrategy, "decide"> | null = null;

  /** @param make Makes an instance: one now, and another for each further simulation. */
  constructor(make: () => Guest, candlesMin: number) {
    this.#make = make;
    this.#first = make();
    this.warmup = Math.max(candlesMin, this.#first.warmup);
    this.every = this.#first.every;
  }

  prepare(markets: readonly MarketView[]): void {
    const first = this.#first;
    this.#first = null;
    // Release the last instance before another is made.
    this.#player = null;
    this.#player = this.play(first ?? this.#make(), markets);
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    this.#player?.decide(now, markets, account, orders);
  }

  protected abstract play(guest: Guest, markets: readonly MarketView[]): Pick<PortfolioStrategy, "decide">;
}
