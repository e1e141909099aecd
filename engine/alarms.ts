import type { Book } from "./book.ts";
import type { Candles } from "./candles.ts";
import type { Ledger } from "./ledger.ts";
import { hasFinancing } from "./rules/financing.ts";
import type { Rules } from "./rules_of_run.ts";
import { MARKET } from "./strategy.ts";

/**
 * The next candle that needs a closer look: the one at `index`, or the first that trades at or below `below`, or at or
 * above `above`. Until then a candle costs two comparisons, however many orders wait.
 */
export class Alarms {
  index = Infinity;
  below = -Infinity;
  above = Infinity;

  /** False if no price rings: highs and lows then need not be fetched from memory. */
  get watchesPrices(): boolean {
    return this.below > -Infinity || this.above < Infinity;
  }

  /** True if the prices of candle `i` ring. */
  ringsIn({ low, high }: Candles, i: number): boolean {
    return this.watchesPrices && (low[i]! <= this.below || high[i]! >= this.above);
  }

  /** Sets the alarms after candle `i` by the orders and trades that remain. */
  set(i: number, book: Book, ledger: Ledger, rules: Rules): void {
    this.index = rules.execution.cashRate === 0 || ledger.account.isShared ? Infinity : i + 1;
    this.below = -Infinity;
    this.above = Infinity;
    if (book.workingOrders > 0) this.#setForOrders(i, book);
    if (ledger.open.count > 0) this.#setForTrades(i, ledger, rules);
  }

  #setForOrders(i: number, book: Book): void {
    for (let n = 0; n < book.workingOrders; n++) {
      const order = book.at(n);
      if (order.type === MARKET) {
        this.index = i + 1;
        continue;
      }
      this.index = Math.min(this.index, Math.max(i + 1, order.until));
      this.#ringAt(order.level, order.direction);
    }
  }

  #setForTrades(i: number, ledger: Ledger, { execution, margin }: Rules): void {
    const { open, side } = ledger;
    if (hasFinancing(execution)) this.index = i + 1;
    // Where other markets move the account, its driver looks for margin calls.
    if (!ledger.account.isShared) this.#ringAt(margin.callPriceOf(ledger), -side);
    if (!ledger.hasGuards) return;
    for (let row = 0; row < open.count; row++) {
      const trade = open.at(row);
      if (trade.isExiting) this.index = i + 1;
      this.index = Math.min(this.index, Math.max(i + 1, trade.timeStop));
      this.#ringAt(trade.stopOn(side), -side);
      this.#ringAt(trade.takeProfit, side);
      this.#ringAt(trade.trailBest, side);
    }
  }

  /** @param direction 1: a high at this price or above rings; -1: a low at it or below. NaN never rings. */
  #ringAt(price: number, direction: number): void {
    if (direction > 0 && price < this.above) this.above = price;
    if (direction < 0 && price > this.below) this.below = price;
  }
}
