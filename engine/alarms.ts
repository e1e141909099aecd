import * as book from "./book.ts";
import * as open from "./open_trades.ts";
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
    if (sim.book.count > 0) this.#setForOrders(sim.book, i);
    if (sim.ledger.open.count > 0) this.#setForTrades(sim, i);
  }

  #setForOrders(orders: book.Book, i: number): void {
    for (let row = 0; row < orders.count; row++) {
      const type = orders.get(row, book.TYPE);
      if (type === MARKET) {
        this.index = i + 1;
        continue;
      }
      this.index = Math.min(this.index, Math.max(i + 1, orders.get(row, book.UNTIL)));
      const side = orders.get(row, book.SIDE);
      if (type === LIMIT) this.#ringAt(orders.get(row, book.LIMIT_PRICE), -side);
      else this.#ringAt(orders.get(row, book.STOP_PRICE), side);
    }
  }

  #setForTrades(sim: Simulation, i: number): void {
    const { ledger: { open: trades, side, cash, quantity }, execution } = sim;
    if (hasFinancing(execution)) this.index = i + 1;
    this.#ringAt(marginCallPrice(execution, cash, quantity), -side);
    if (!sim.hasGuards) return;
    for (let row = 0; row < trades.count; row++) {
      if (trades.get(row, open.EXITING) >= 0) this.index = i + 1;
      this.index = Math.min(this.index, Math.max(i + 1, trades.get(row, open.TIME_STOP)));
      this.#ringAt(trades.stopOf(row, side), -side);
      this.#ringAt(trades.get(row, open.TAKE_PROFIT), side);
      this.#ringAt(trades.get(row, open.TRAIL_BEST), side);
    }
  }

  /** @param direction 1: a high at this price or above rings; -1: a low at it or below. NaN never rings. */
  #ringAt(price: number, direction: number): void {
    if (direction > 0 && price < this.above) this.above = price;
    if (direction < 0 && price > this.below) this.below = price;
  }
}
