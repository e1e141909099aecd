import type { Book } from "./book.ts";
import { hasFinancing } from "./rules/financing.ts";
import { marginCallPrice } from "./rules/margin.ts";
import type { Simulation } from "./simulation.ts";
import { LIMIT, MARKET } from "./strategy.ts";

/**
 * When the simulator next has to look at a candle: at this index, or when one trades at or below `below`, or at or above
 * `above`. Between alarms a candle costs two comparisons, however many orders wait; without orders nothing rings.
 */
export class Alarms {
  index = Infinity;
  below = -Infinity;
  above = Infinity;

  /** Sets the alarms after candle `i`, once something has changed. */
  set(sim: Simulation, i: number): void {
    this.index = Infinity;
    this.below = -Infinity;
    this.above = Infinity;
    if (sim.book.workingOrders > 0) this.#setForOrders(sim.book, i);
    if (sim.ledger.open.count > 0) this.#setForTrades(sim, i);
  }

  #setForOrders(book: Book, i: number): void {
    for (let n = 0; n < book.workingOrders; n++) {
      const { type, side, limitPrice, stopPrice, until } = book.at(n);
      if (type === MARKET) {
        this.index = i + 1;
        continue;
      }
      this.index = Math.min(this.index, Math.max(i + 1, until));
      if (type === LIMIT) this.#ringAt(limitPrice, -side);
      else this.#ringAt(stopPrice, side);
    }
  }

  #setForTrades(sim: Simulation, i: number): void {
    const { ledger, execution } = sim;
    const { open, side } = ledger;
    if (hasFinancing(execution)) this.index = i + 1;
    this.#ringAt(marginCallPrice(execution, ledger), -side);
    if (!sim.hasGuards) return;
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
