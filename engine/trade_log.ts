import { type BufferPool, takeCodes, takeDoubles, takeIntegers, takeSides } from "./buffer_pool.ts";
import { ChunkedRows } from "./chunked_rows.ts";
import type { Excursions } from "./excursions.ts";
import type { Fill } from "./fill.ts";
import type { OpenTrade } from "./open_trade.ts";
import { STILL_OPEN, type TradeColumns } from "./trade_columns.ts";

// The values of a row: a trade's, or those of the part of it that one exit closed. Indexes are candles.
const NUMBER = 0;
const ORDER = 1;
const ENTRY_INDEX = 2;
const EXIT_INDEX = 3;
const SIDE = 4;
const REASON = 5;
const AMBIGUOUS = 6;
const QUANTITY = 7;
const ENTRY_TIME = 8;
const ENTRY_PRICE = 9;
const EXIT_TIME = 10;
const EXIT_PRICE = 11;
const FEES = 12;
const PNL = 13;
const MAE = 14;
const MFE = 15;
const WIDTH = 16;

/** The trades of a run, in order of their exits until `finish` sorts them. */
export class TradeLog {
  readonly #time: Float64Array;
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedRows;
  #isSorted = true;
  #lastNumber = -1;

  /** @param time The candles' opens. */
  constructor(time: Float64Array, pool: BufferPool | null) {
    this.#time = time;
    this.#pool = pool;
    this.#rows = new ChunkedRows(WIDTH, pool);
  }

  get count(): number {
    return this.#rows.count;
  }

  /** Adds the part of a trade that a fill has closed. @param reason Index into EXIT_REASONS, or STILL_OPEN. */
  append(trade: OpenTrade, side: number, fill: Fill, reason: number, { mae, mfe }: Excursions): void {
    const { units, price } = fill;
    const share = units / trade.quantity;
    const fees = trade.fees * share + fill.fee;
    const row = this.#rows.append();
    const to = this.#rows.chunkOf(row);
    const at = this.#rows.placeOf(row);
    if (trade.number < this.#lastNumber) this.#isSorted = false;
    this.#lastNumber = trade.number;
    to[at + NUMBER] = trade.number;
    to[at + ORDER] = trade.order;
    to[at + ENTRY_INDEX] = trade.entryIndex;
    to[at + EXIT_INDEX] = fill.index;
    to[at + SIDE] = side;
    to[at + REASON] = reason;
    to[at + AMBIGUOUS] = trade.isAmbiguous ? 1 : 0;
    to[at + QUANTITY] = units;
    to[at + ENTRY_TIME] = this.#time[trade.entryIndex]!;
    to[at + ENTRY_PRICE] = trade.price;
    to[at + EXIT_TIME] = reason === STILL_OPEN ? NaN : this.#time[fill.index]!;
    to[at + EXIT_PRICE] = reason === STILL_OPEN ? NaN : price;
    to[at + FEES] = fees;
    to[at + PNL] = side * units * (price - trade.price) - fees + trade.financing * share;
    to[at + MAE] = mae;
    to[at + MFE] = mfe;
  }

  /** Adds to the pnl of the last `rows` rows, in proportion to their quantities. */
  credit(rows: number, money: number): void {
    const first = this.count - rows;
    let quantity = 0;
    for (let row = first; row < this.count; row++) quantity += this.#valueOf(row, QUANTITY);
    for (let row = first; row < this.count; row++) {
      this.#rows.chunkOf(row)[this.#rows.placeOf(row) + PNL]! += money * this.#valueOf(row, QUANTITY) / quantity;
    }
  }

  /** Number of candles in which a trade was open at any moment. */
  exposedCandles(): number {
    const order = this.#order();
    let exposed = 0;
    let counted = -1;
    for (let k = 0; k < this.count; k++) {
      const row = order === null ? k : order[k]!;
      const from = Math.max(this.#valueOf(row, ENTRY_INDEX), counted + 1);
      const until = this.#valueOf(row, EXIT_INDEX);
      if (until < from) continue;
      exposed += until - from + 1;
      counted = until;
    }
    return exposed;
  }

  /**
   * Returns the log as columns: closed trades in order of entry and then of exit, open trades last.
   *
   * @param orderTags Indexed by the orders' numbers: a trade has the tag of the order that opened it.
   */
  finish(orderTags: readonly (string | null)[]): TradeColumns {
    const { count } = this;
    const order = this.#order();
    const rows = order === null ? null : this.#closedBeforeOpen(order);
    const side = takeSides(this.#pool, count);
    const quantity = takeDoubles(this.#pool, count);
    const entryTime = takeDoubles(this.#pool, count);
    const entryPrice = takeDoubles(this.#pool, count);
    const exitTime = takeDoubles(this.#pool, count);
    const exitPrice = takeDoubles(this.#pool, count);
    const fees = takeDoubles(this.#pool, count);
    const pnl = takeDoubles(this.#pool, count);
    const fraction = takeDoubles(this.#pool, count);
    const candles = takeIntegers(this.#pool, count);
    const mae = takeDoubles(this.#pool, count);
    const mfe = takeDoubles(this.#pool, count);
    const exitReason = takeCodes(this.#pool, count);
    const ambiguous = takeCodes(this.#pool, count);
    const tag = new Array<string | null>(count).fill(null);
    for (let k = 0; k < count; k++) {
      const row = rows === null ? k : rows[k]!;
      const from = this.#rows.chunkOf(row);
      const at = this.#rows.placeOf(row);
      side[k] = from[at + SIDE]!;
      quantity[k] = from[at + QUANTITY]!;
      entryTime[k] = from[at + ENTRY_TIME]!;
      entryPrice[k] = from[at + ENTRY_PRICE]!;
      exitTime[k] = from[at + EXIT_TIME]!;
      exitPrice[k] = from[at + EXIT_PRICE]!;
      fees[k] = from[at + FEES]!;
      pnl[k] = from[at + PNL]!;
      fraction[k] = from[at + PNL]! / (from[at + ENTRY_PRICE]! * from[at + QUANTITY]!);
      candles[k] = from[at + EXIT_INDEX]! - from[at + ENTRY_INDEX]!;
      mae[k] = from[at + MAE]!;
      mfe[k] = from[at + MFE]!;
      exitReason[k] = from[at + REASON]!;
      ambiguous[k] = from[at + AMBIGUOUS]!;
      tag[k] = orderTags[from[at + ORDER]!] ?? null;
    }
    return {
      count,
      side,
      quantity,
      entryTime,
      entryPrice,
      exitTime,
      exitPrice,
      fees,
      pnl,
      return: fraction,
      candles,
      mae,
      mfe,
      exitReason,
      ambiguous,
      tag,
    };
  }

  #valueOf(row: number, field: number): number {
    return this.#rows.chunkOf(row)[this.#rows.placeOf(row) + field]!;
  }

  /** Rows in order of entry, then of exit; null when they already are. */
  #order(): Uint32Array | null {
    if (this.#isSorted) return null;
    const numberOf = (row: number) => this.#valueOf(row, NUMBER);
    return new Uint32Array(this.count).map((_, row) => row).sort((a, b) => numberOf(a) - numberOf(b) || a - b);
  }

  /** The rows of closed trades, then those of open ones. */
  #closedBeforeOpen(order: Uint32Array): Uint32Array {
    const isOpen = (row: number) => this.#valueOf(row, REASON) === STILL_OPEN;
    const closed = order.filter((row) => !isOpen(row));
    const all = new Uint32Array(order.length);
    all.set(closed);
    all.set(order.filter(isOpen), closed.length);
    return all;
  }
}
