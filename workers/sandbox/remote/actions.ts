import { type Account, newDraft, type OrderBook, type OrderDraft } from "../../../engine/strategy.ts";
import { type Action, fillDraft, type When } from "./answer.ts";

/** Carries out an endpoint's actions. The endpoint names its orders by ids of its own, the simulator by numbers. */
export class ActionPlayer {
  readonly #draft: OrderDraft = newDraft();
  readonly #orders = new Map<string, number>();
  /** The ids by the simulator's numbers. */
  readonly #ids = new Map<number, string>();

  /** Carries out a candle's actions in order. Each `when` depends on the position at the close, before all of them. */
  play(actions: readonly Action[], account: Pick<Account, "quantity">, book: OrderBook): void {
    const quantity = account.quantity;
    for (const action of actions) {
      if (isMet(action.when, quantity)) this.#do(action, book);
    }
  }

  /** The ids of the orders that still work. Drops all others, but for those of the `kept` orders. */
  workingIds(book: OrderBook, kept: readonly number[] = []): string[] {
    for (const [id, order] of this.#orders) {
      if (!book.isWorking(order)) this.#orders.delete(id);
    }
    if (this.#ids.size > 0) {
      const stay = new Set([...kept, ...this.#orders.values()]);
      for (const order of this.#ids.keys()) if (!stay.has(order)) this.#ids.delete(order);
    }
    return [...this.#orders.keys()];
  }

  /** The id of an order that works, or of one that opened a trade which is open; null: it has none. */
  idOf(order: number): string | null {
    return this.#ids.get(order) ?? null;
  }

  #do(action: Action, book: OrderBook): void {
    switch (action.action) {
      case "order":
        return this.#keep(action.id, book.place(fillDraft(this.#draft, action.fields)));
      case "replace": {
        const order = this.#orders.get(action.id);
        if (order === undefined) return;
        return this.#keep(action.id, book.replace(order, fillDraft(this.#draft, action.fields)));
      }
      case "cancel": {
        const order = this.#orders.get(action.id);
        if (order === undefined) return;
        book.cancel(order);
        this.#orders.delete(action.id);
        return;
      }
      case "cancel_all":
        book.cancelAll();
        return this.#orders.clear();
      case "close":
        if (action.trade === null) book.close(action.fraction, action.tag);
        else book.closeTrade(action.trade, action.fraction, action.tag);
        return;
      case "protect":
        if (action.trade !== null) book.protect(action.trade, action.stopLoss, action.takeProfit);
        else {
          for (let n = 0; n < book.openTrades; n++) {
            book.protect(book.tradeAt(n), action.stopLoss, action.takeProfit);
          }
        }
        return;
    }
  }

  #keep(id: string | null, order: number): void {
    if (id === null) return;
    if (order < 0) this.#orders.delete(id);
    else {
      this.#orders.set(id, order);
      this.#ids.set(order, id);
    }
  }
}

function isMet(when: When, quantity: number): boolean {
  switch (when) {
    case "always":
      return true;
    case "flat":
      return quantity === 0;
    case "in_position":
      return quantity !== 0;
    case "long":
      return quantity > 0;
    case "short":
      return quantity < 0;
    case "not_long":
      return quantity <= 0;
    case "not_short":
      return quantity >= 0;
  }
}
