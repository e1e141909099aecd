import { type BufferPool, takeCodes, takeDoubles, takeSides } from "./buffer_pool.ts";
import { ChunkedRows } from "./chunked_rows.ts";
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
import { BY_UNITS, limitPriceOf, type OrderDraft, stopPriceOf } from "./strategy.ts";
import type { WorkingOrder } from "./working_order.ts";

// The values of a row: an order's, in the units of OrderColumns; candles by their indexes.
const PLACED_AT = 0;
const FILLED_AT = 1;
const SIDE = 2;
const TYPE = 3;
const STATUS = 4;
const REASON = 5;
const QUANTITY = 6;
const LIMIT_PRICE = 7;
const STOP_PRICE = 8;
const FILLED_QUANTITY = 9;
const PRICE = 10;
const MARKET = 11;
const WIDTH = 12;

const NOT_FILLED = -1;

/** Every order of a run and its fate. An order's number is its row. */
export class OrderLog {
  /** The candles' opens, by market. */
  readonly #times: readonly Float64Array[];
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedRows;
  /** Indexed by the orders' numbers, with holes for orders without a tag. */
  readonly #tags: string[] = [];
  rejected = 0;

  /** @param times The candles' opens, by market. */
  constructor(times: readonly Float64Array[], pool: BufferPool | null) {
    this.#times = times;
    this.#pool = pool;
    this.#rows = new ChunkedRows(WIDTH, pool);
  }

  /**
   * Lists a new order as working and returns its number. `end` or `finish` writes its reason.
   *
   * @param market Its index. @param i Index of the candle at whose close it was placed.
   */
  append(market: number, i: number, draft: OrderDraft): number {
    const order = this.#rows.append();
    const to = this.#rows.chunkOf(order);
    const at = this.#rows.placeOf(order);
    to[at + PLACED_AT] = i;
    to[at + FILLED_AT] = NOT_FILLED;
    to[at + SIDE] = draft.side;
    to[at + MARKET] = market;
    to[at + TYPE] = draft.type;
    to[at + STATUS] = WORKING;
    to[at + QUANTITY] = draft.sizeBy === BY_UNITS ? draft.size : NaN;
    to[at + LIMIT_PRICE] = limitPriceOf(draft);
    to[at + STOP_PRICE] = stopPriceOf(draft);
    to[at + FILLED_QUANTITY] = 0;
    to[at + PRICE] = NaN;
    if (draft.tag !== null) this.#tags[order] = draft.tag;
    return order;
  }

  /** True if any order has a tag. */
  get hasTags(): boolean {
    return this.#tags.length > 0;
  }

  tagOf(order: number): string | null {
    return this.#tags[order] ?? null;
  }

  /** Records the quantity that the simulator chose. */
  size({ number, units }: WorkingOrder): void {
    this.#rows.chunkOf(number)[this.#rows.placeOf(number) + QUANTITY] = units;
  }

  /** Records a fill, whole or partial. @param price Includes spread and slippage. */
  fill(order: number, i: number, units: number, price: number): void {
    const to = this.#rows.chunkOf(order);
    const at = this.#rows.placeOf(order);
    to[at + PRICE] = meanPrice(to[at + PRICE]!, to[at + FILLED_QUANTITY]!, price, units);
    to[at + FILLED_QUANTITY]! += units;
    to[at + FILLED_AT] = i;
  }

  /** Records an order's end. @param reason Index into ORDER_REASONS. */
  end(
    order: number,
    status: typeof FILLED | typeof CANCELLED | typeof EXPIRED | typeof REJECTED,
    reason: number,
  ): void {
    const to = this.#rows.chunkOf(order);
    const at = this.#rows.placeOf(order);
    to[at + STATUS] = status;
    to[at + REASON] = reason;
    if (status === REJECTED) this.rejected++;
  }

  /** The market of each order, by its index. To be read before `finish`. */
  markets(): Uint16Array {
    const markets = new Uint16Array(this.#rows.count);
    for (let k = 0; k < markets.length; k++) {
      markets[k] = this.#rows.chunkOf(k)[this.#rows.placeOf(k) + MARKET]!;
    }
    return markets;
  }

  /** Ends the log and returns it as columns, in order of placement. Its own rows are given up: a long log is large. */
  finish(): OrderColumns {
    const { count } = this.#rows;
    const time = takeDoubles(this.#pool, count);
    const side = takeSides(this.#pool, count);
    const type = takeCodes(this.#pool, count);
    const quantity = takeDoubles(this.#pool, count);
    const limitPrice = takeDoubles(this.#pool, count);
    const stopPrice = takeDoubles(this.#pool, count);
    const status = takeCodes(this.#pool, count);
    const reason = takeCodes(this.#pool, count);
    const filledQuantity = takeDoubles(this.#pool, count);
    const price = takeDoubles(this.#pool, count);
    const fillTime = takeDoubles(this.#pool, count);
    for (let k = 0; k < count; k++) {
      const from = this.#rows.chunkOf(k);
      const at = this.#rows.placeOf(k);
      side[k] = from[at + SIDE]!;
      type[k] = from[at + TYPE]!;
      quantity[k] = from[at + QUANTITY]!;
      limitPrice[k] = from[at + LIMIT_PRICE]!;
      stopPrice[k] = from[at + STOP_PRICE]!;
      status[k] = from[at + STATUS]!;
      reason[k] = status[k] === WORKING ? RUN_ENDED : from[at + REASON]!;
      filledQuantity[k] = from[at + FILLED_QUANTITY]!;
      price[k] = from[at + PRICE]!;
    }
    this.#readTimes(time, fillTime);
    const tag = new Array<string | null>(count).fill(null);
    this.#tags.forEach((text, order) => tag[order] = text);
    this.#rows.clear();
    return {
      count,
      time,
      side,
      type,
      quantity,
      limitPrice,
      stopPrice,
      status,
      reason,
      filledQuantity,
      price,
      fillTime,
      tag,
    };
  }

  /** Reads times in a loop of their own: the processor then waits for many at once. */
  #readTimes(time: Float64Array, fillTime: Float64Array): void {
    const all = this.#times;
    const only = all.length === 1 ? all[0]! : null;
    for (let k = 0; k < time.length; k++) {
      const from = this.#rows.chunkOf(k);
      const at = this.#rows.placeOf(k);
      const times = only ?? all[from[at + MARKET]!]!;
      const filledAt = from[at + FILLED_AT]!;
      time[k] = times[from[at + PLACED_AT]!]!;
      fillTime[k] = filledAt === NOT_FILLED ? NaN : times[filledAt]!;
    }
  }
}
