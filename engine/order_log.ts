import { CANCELLED, EXPIRED, FILLED, NO_REASON, type OrderColumns, REJECTED, RUN_ENDED, WORKING } from "./orders.ts";
import { Records } from "./records.ts";
import type { OrderDraft } from "./strategy.ts";

const INDEX = 0;
const SIDE = 1;
const TYPE = 2;
const QUANTITY = 3;
const LIMIT_PRICE = 4;
const STOP_PRICE = 5;
const STATUS = 6;
const REASON = 7;
const FILLED_QUANTITY = 8;
const FILLED_VALUE = 9;
const FILL_INDEX = 10;
const WIDTH = 11;

/** Every order of a run and what became of it. An order's number is its row. */
export class OrderLog {
  readonly #records = new Records(WIDTH, 256);
  readonly tags: (string | null)[] = [];
  rejected = 0;

  /** Lists a new order as working and returns its number. @param i Index of the candle at whose close it was placed. */
  append(i: number, draft: OrderDraft, quantity: number): number {
    const records = this.#records;
    const order = records.append();
    records.set(order, INDEX, i);
    records.set(order, SIDE, draft.side);
    records.set(order, TYPE, draft.type);
    records.set(order, QUANTITY, quantity);
    records.set(order, LIMIT_PRICE, draft.limitPrice);
    records.set(order, STOP_PRICE, draft.stopPrice);
    records.set(order, STATUS, WORKING);
    records.set(order, REASON, NO_REASON);
    records.set(order, FILLED_QUANTITY, 0);
    records.set(order, FILLED_VALUE, 0);
    this.tags.push(draft.tag);
    return order;
  }

  /** Notes the quantity that the simulator chose. */
  size(order: number, quantity: number): void {
    this.#records.set(order, QUANTITY, quantity);
  }

  /** Notes a fill, whole or partial. @param price Costs of spread and slippage included. */
  fill(order: number, i: number, units: number, price: number): void {
    const records = this.#records;
    records.set(order, FILLED_QUANTITY, records.get(order, FILLED_QUANTITY) + units);
    records.set(order, FILLED_VALUE, records.get(order, FILLED_VALUE) + units * price);
    records.set(order, FILL_INDEX, i);
  }

  /** Notes an order's end. */
  end(
    order: number,
    status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED,
    reason: number,
  ): void {
    this.#records.set(order, STATUS, status);
    this.#records.set(order, REASON, reason);
    if (status === REJECTED) this.rejected++;
  }

  finish(time: Float64Array): OrderColumns {
    const records = this.#records;
    const status = Uint8Array.from(records.column(STATUS, null));
    const value = records.column(FILLED_VALUE, null);
    const filledQuantity = records.column(FILLED_QUANTITY, null);
    return {
      count: records.count,
      time: records.column(INDEX, null).map((index) => time[index]!),
      side: Int8Array.from(records.column(SIDE, null)),
      type: Uint8Array.from(records.column(TYPE, null)),
      quantity: records.column(QUANTITY, null),
      limitPrice: records.column(LIMIT_PRICE, null),
      stopPrice: records.column(STOP_PRICE, null),
      status,
      reason: Uint8Array.from(records.column(REASON, null), (reason, k) => status[k] === WORKING ? RUN_ENDED : reason),
      filledQuantity,
      price: value.map((money, k) => filledQuantity[k] === 0 ? NaN : money / filledQuantity[k]!),
      fillTime: records.column(FILL_INDEX, null).map((index) => Number.isNaN(index) ? NaN : time[index]!),
      tag: this.tags,
    };
  }
}
