import { CANCELLED, EXPIRED, FILLED, NO_REASON, type OrderColumns, REJECTED, RUN_ENDED, WORKING } from "./orders.ts";
import { FIELD_STRIDE, RowLog } from "./row_log.ts";
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
  readonly #records = new RowLog(WIDTH);
  readonly tags: (string | null)[] = [];
  rejected = 0;

  /** Lists a new order as working and returns its number. @param i Index of the candle at whose close it was placed. */
  append(i: number, draft: OrderDraft, quantity: number): number {
    const records = this.#records;
    const at = records.append();
    const { data } = records;
    data[at + INDEX * FIELD_STRIDE] = i;
    data[at + SIDE * FIELD_STRIDE] = draft.side;
    data[at + TYPE * FIELD_STRIDE] = draft.type;
    data[at + QUANTITY * FIELD_STRIDE] = quantity;
    data[at + LIMIT_PRICE * FIELD_STRIDE] = draft.limitPrice;
    data[at + STOP_PRICE * FIELD_STRIDE] = draft.stopPrice;
    data[at + STATUS * FIELD_STRIDE] = WORKING;
    data[at + REASON * FIELD_STRIDE] = NO_REASON;
    data[at + FILLED_QUANTITY * FIELD_STRIDE] = 0;
    data[at + FILLED_VALUE * FIELD_STRIDE] = 0;
    data[at + FILL_INDEX * FIELD_STRIDE] = NaN;
    this.tags.push(draft.tag);
    return records.count - 1;
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
    const column = (field: number) => records.column(field, null);
    const status = records.codes(STATUS, null);
    const reason = records.codes(REASON, null);
    const placed = column(INDEX);
    const price = column(FILLED_VALUE);
    const filledQuantity = column(FILLED_QUANTITY);
    const fillTime = column(FILL_INDEX);
    for (let k = 0; k < records.count; k++) {
      if (status[k] === WORKING) reason[k] = RUN_ENDED;
      placed[k] = time[placed[k]!]!;
      price[k] = price[k]! / filledQuantity[k]!;
      if (!Number.isNaN(fillTime[k]!)) fillTime[k] = time[fillTime[k]!]!;
    }
    return {
      count: records.count,
      time: placed,
      side: new Int8Array(column(SIDE)),
      type: records.codes(TYPE, null),
      quantity: column(QUANTITY),
      limitPrice: column(LIMIT_PRICE),
      stopPrice: column(STOP_PRICE),
      status,
      reason,
      filledQuantity,
      price,
      fillTime,
      tag: this.tags,
    };
  }
}
