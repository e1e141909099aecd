import { type BufferPool, takeDoubles } from "./buffer_pool.ts";
import { ChunkedColumns, type ColumnMemory, placeOf } from "./chunked_columns.ts";
import {
  type CANCELLED,
  type EXPIRED,
  type FILLED,
  type OrderColumns,
  REJECTED,
  RUN_ENDED,
  WORKING,
} from "./order_columns.ts";
import { meanPrice } from "./mean_price.ts";
import { BY_UNITS, type OrderDraft } from "./strategy.ts";
import type { WorkingOrder } from "./working_order.ts";

/** One row of the log: an order. Indexes are those of candles; `fillIndex` is -1 where nothing was filled. */
const newColumns = (memory: ColumnMemory) => ({
  index: memory.integers(),
  fillIndex: memory.integers(),
  side: memory.sides(),
  type: memory.codes(),
  status: memory.codes(),
  reason: memory.codes(),
  quantity: memory.doubles(),
  limitPrice: memory.doubles(),
  stopPrice: memory.doubles(),
  filledQuantity: memory.doubles(),
  price: memory.doubles(),
});

type Columns = ReturnType<typeof newColumns>;

/** Every order of a run and its fate. An order's number is its row. */
export class OrderLog {
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedColumns<Columns>;
  /** Indexed by the orders' numbers, with holes for orders without a tag. */
  readonly #tags: string[] = [];
  rejected = 0;

  constructor(pool: BufferPool | null) {
    this.#pool = pool;
    this.#rows = new ChunkedColumns<Columns>(newColumns, pool);
  }

  /**
   * Lists a new order as working and returns its number. `end` or `finish` writes its reason.
   *
   * @param i Index of the candle at whose close it was placed.
   */
  append(i: number, draft: OrderDraft): number {
    const order = this.#rows.append();
    const to = this.#rows.chunkOf(order);
    const at = placeOf(order);
    to.index[at] = i;
    to.fillIndex[at] = -1;
    to.side[at] = draft.side;
    to.type[at] = draft.type;
    to.status[at] = WORKING;
    to.quantity[at] = draft.sizeBy === BY_UNITS ? draft.size : NaN;
    to.limitPrice[at] = draft.limitPrice;
    to.stopPrice[at] = draft.stopPrice;
    to.filledQuantity[at] = 0;
    to.price[at] = NaN;
    if (draft.tag !== null) this.#tags[order] = draft.tag;
    return order;
  }

  /** Records the quantity that the simulator chose. */
  size(order: WorkingOrder): void {
    this.#rows.chunkOf(order.number).quantity[placeOf(order.number)] = order.units;
  }

  /** Records a fill, whole or partial. @param price Includes spread and slippage. */
  fill(order: number, i: number, units: number, price: number): void {
    const to = this.#rows.chunkOf(order);
    const at = placeOf(order);
    to.price[at] = meanPrice(to.price[at]!, to.filledQuantity[at]!, price, units);
    to.filledQuantity[at]! += units;
    to.fillIndex[at] = i;
  }

  /** Records an order's end. @param reason Index into ORDER_REASONS. */
  end(
    order: number,
    status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED,
    reason: number,
  ): void {
    const to = this.#rows.chunkOf(order);
    to.status[placeOf(order)] = status;
    to.reason[placeOf(order)] = reason;
    if (status === REJECTED) this.rejected++;
  }

  /** Completes the log and returns it as columns, in order of placement. */
  finish(time: Float64Array): OrderColumns {
    const { count } = this.#rows;
    const rows = this.#rows.gather();
    const { status, reason, filledQuantity, price } = rows;
    const placed = takeDoubles(this.#pool, count);
    const fillTime = takeDoubles(this.#pool, count);
    for (let k = 0; k < count; k++) {
      const filled = rows.fillIndex[k]!;
      if (status[k] === WORKING) reason[k] = RUN_ENDED;
      placed[k] = time[rows.index[k]!]!;
      fillTime[k] = filled >= 0 ? time[filled]! : NaN;
    }
    const tag = new Array<string | null>(count).fill(null);
    this.#tags.forEach((text, order) => tag[order] = text);
    return {
      count,
      time: placed,
      side: rows.side,
      type: rows.type,
      quantity: rows.quantity,
      limitPrice: rows.limitPrice,
      stopPrice: rows.stopPrice,
      status,
      reason,
      filledQuantity,
      price,
      fillTime,
      tag,
    };
  }
}
