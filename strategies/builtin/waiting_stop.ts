import { type OrderBook, type OrderDraft, REFUSED, STOP } from "../../engine/strategy.ts";

/** One stop order that is kept working at a price. It is placed anew only when its price or size changes. */
export class WaitingStop {
  readonly draft: OrderDraft;
  #order = REFUSED;
  #size = NaN;

  constructor(draft: OrderDraft) {
    this.draft = { ...draft, type: STOP };
  }

  /** True if the order works at this price. */
  waitsAt(book: OrderBook, price: number): boolean {
    return this.#order !== REFUSED && book.isWorking(this.#order) && price === this.draft.stopPrice;
  }

  wait(book: OrderBook, price: number): void {
    const working = this.#order !== REFUSED && book.isWorking(this.#order);
    if (working && price === this.draft.stopPrice && Object.is(this.draft.size, this.#size)) return;
    this.draft.stopPrice = price;
    this.#size = this.draft.size;
    this.#order = working ? book.replace(this.#order, this.draft) : book.place(this.draft);
  }

  /** Forgets the order of an earlier run. */
  forget(): void {
    this.#order = REFUSED;
  }

  withdraw(book: OrderBook): void {
    if (this.#order === REFUSED) return;
    book.cancel(this.#order);
    this.#order = REFUSED;
  }
}
