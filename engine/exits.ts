import type { Fill } from "./fill.ts";
import type { FillPricing } from "./fill_pricing.ts";
import type { Ledger } from "./ledger.ts";
import { meanPrice } from "./mean_price.ts";
import type { OpenTrade } from "./open_trade.ts";
import type { Lots } from "./rules/lots.ts";

/** Closes open trades, whole or in part, where a fill says that the market stands. */
export class Exits {
  readonly #ledger: Ledger;
  readonly #lots: Lots;
  readonly #pricing: FillPricing;
  /** Units that were closed since the last `begin`, and their mean price. */
  units = NaN;
  price = NaN;

  constructor(ledger: Ledger, lots: Lots, pricing: FillPricing) {
    this.#ledger = ledger;
    this.#lots = lots;
    this.#pricing = pricing;
  }

  /** Starts counting units anew. */
  begin(): void {
    this.units = 0;
    this.price = NaN;
  }

  /**
   * Closes units of one trade. `fill.units` then holds how many: fewer, or none, where slippage limits fills to a share of
   * the candle's volume.
   *
   * @param reason Index into EXIT_REASONS.
   */
  exit(fill: Fill, trade: OpenTrade, units: number, reason: number): void {
    this.#pricing.take(fill, units);
    if (fill.units === 0) return;
    this.#pricing.price(fill, -this.#ledger.side, false);
    this.#ledger.exit(trade, fill, reason);
    this.price = meanPrice(this.price, this.units, fill.price, fill.units);
    this.units += fill.units;
  }

  /**
   * Closes up to this many units, oldest trades first.
   *
   * @returns The units that are left: those of the given ones that are open and that volume did not allow.
   */
  exitOldest(fill: Fill, units: number, reason: number): number {
    const ledger = this.#ledger;
    const lots = this.#lots;
    // To close everything is to close all of every trade: subtracting them one by one from their sum may leave dust.
    let left = lots.minus(Math.abs(ledger.quantity), units) === 0 ? Infinity : units;
    while (ledger.open.count > 0 && left > 0) {
      const oldest = ledger.open.at(0);
      const wanted = Math.min(left, oldest.quantity);
      this.exit(fill, oldest, wanted, reason);
      if (left < Infinity) left = lots.minus(left, fill.units);
      if (fill.units < wanted) break;
    }
    return Math.min(left, Math.abs(ledger.quantity));
  }
}
