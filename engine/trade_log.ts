import { type BufferPool, takeCodes, takeDoubles, takeIntegers, takeSides } from "./buffer_pool.ts";
import { ChunkedRows } from "./chunked_rows.ts";
import type { Excursions } from "./excursions.ts";
import { DAY_MS } from "./time/durations.ts";
import type { Fill } from "./fill.ts";
import { TradeTally } from "./metrics/trade_tally.ts";
import type { OpenTrade } from "./open_trade.ts";
import { NO_ORDER, SIGNAL, STILL_OPEN, type TradeColumns } from "./trade_columns.ts";

// The values of a row: a trade's, or those of the part of it that one exit closed. Indexes are candles.
const NUMBER = 0;
const ORDER = 1;
/** side x (market + 1): one value less to write at each fill. */
const SIDE_OF_MARKET = 2;
const REASON = 3;
const AMBIGUOUS = 4;
const ENTRY_INDEX = 5;
const ENTRY_PRICE = 6;
const EXIT_INDEX = 7;
const EXIT_PRICE = 8;
const QUANTITY = 9;
const FEES = 10;
const PNL = 11;
const MAE = 12;
const MFE = 13;
const EXIT_ORDER = 14;
const ENTRY_RATE = 15;
const WIDTH = 16;

/** The holder of a trade: its market's ledger. */
interface Holder {
  readonly side: number;
  readonly market: number;
  /** The worth of one unit of the market's currency, in the account's currency. */
  readonly rate: number;
}

/**
 * The trades of a run, in order of their exits until `finish` sorts them. A row holds what the candles do not say; `finish`
 * reads these once, in order, where each fill would wait for memory.
 */
export class TradeLog {
  /** The candles' opens, by market. */
  readonly #times: readonly Float64Array[];
  readonly #pool: BufferPool | null;
  readonly #rows: ChunkedRows;
  #isSorted = true;
  #lastNumber = -1;
  /** The rows in order of entry, if they have been sorted since the last one was added. */
  #ordered: Uint32Array = new Uint32Array(0);

  /** @param times The candles' opens, by market. */
  constructor(times: readonly Float64Array[], pool: BufferPool | null) {
    this.#times = times;
    this.#pool = pool;
    this.#rows = new ChunkedRows(WIDTH, pool);
  }

  get count(): number {
    return this.#rows.count;
  }

  /**
   * Adds the part of a trade that a fill has closed.
   *
   * @param reason Index into EXIT_REASONS, or STILL_OPEN. @param excursions The trade's, just measured; null: nobody reads them.
   */
  append(
    { side, rate, market }: Holder,
    trade: OpenTrade,
    fill: Fill,
    reason: number,
    excursions: Excursions | null,
  ): void {
    const { units, price } = fill;
    const share = units / trade.quantity;
    const fees = trade.fees * share + fill.fee * rate;
    const row = this.#rows.append();
    const to = this.#rows.chunkOf(row);
    const at = this.#rows.placeOf(row);
    if (trade.number < this.#lastNumber) this.#isSorted = false;
    this.#lastNumber = trade.number;
    to[at + NUMBER] = trade.number;
    to[at + ORDER] = trade.order;
    to[at + SIDE_OF_MARKET] = side * (market + 1);
    to[at + REASON] = reason;
    to[at + EXIT_ORDER] = reason === SIGNAL ? fill.order : NO_ORDER;
    to[at + AMBIGUOUS] = trade.isAmbiguous ? 1 : 0;
    to[at + ENTRY_INDEX] = trade.entryIndex;
    to[at + ENTRY_PRICE] = trade.price;
    to[at + EXIT_INDEX] = fill.index;
    to[at + EXIT_PRICE] = price;
    to[at + QUANTITY] = units;
    to[at + FEES] = fees;
    to[at + PNL] = side * units * (price * rate - trade.price * trade.rate) - fees + trade.financing * share;
    to[at + MAE] = excursions?.mae ?? NaN;
    to[at + MFE] = excursions?.mfe ?? NaN;
    to[at + ENTRY_RATE] = trade.rate;
  }

  /** Money of the row that was added last. */
  last(): { readonly pnl: number; readonly fees: number } {
    const row = this.count - 1;
    return { pnl: this.#valueOf(row, PNL), fees: this.#valueOf(row, FEES) };
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

  /**
   * Adds the trades up for the metrics.
   *
   * @param rowOf The row of the run's equity that a market's candle belongs to; null: candles count themselves.
   */
  tally(rowOf: ((market: number, candle: number) => number) | null = null): TradeTally {
    const order = this.#order();
    const tally = new TradeTally(this.count);
    for (let k = 0; k < this.count; k++) {
      const row = order === null ? k : order[k]!;
      const from = this.#rows.chunkOf(row);
      const at = this.#rows.placeOf(row);
      const entry = from[at + ENTRY_INDEX]!;
      const exit = from[at + EXIT_INDEX]!;
      const market = Math.abs(from[at + SIDE_OF_MARKET]!) - 1;
      if (rowOf === null) tally.count(entry, exit, from[at + AMBIGUOUS] === 1);
      else tally.count(rowOf(market, entry), rowOf(market, exit), from[at + AMBIGUOUS] === 1);
      if (from[at + REASON] === STILL_OPEN) continue;
      const pnl = from[at + PNL]!;
      const value = from[at + ENTRY_PRICE]! * from[at + QUANTITY]! * from[at + ENTRY_RATE]!;
      const time = this.#times[market]!;
      tally.close(pnl, pnl / value, (time[exit]! - time[entry]!) / DAY_MS);
    }
    return tally;
  }

  /**
   * Returns the log as columns: closed trades in order of entry and then of exit, open trades last.
   *
   * @param orderTags Indexed by the orders' numbers; null: there are none.
   */
  finish(orderTags: readonly (string | null)[] | null): TradeColumns {
    const order = this.#order();
    const rows = order === null ? null : this.#closedBeforeOpen(order);
    const columns = this.#takeColumns();
    this.#copyRows(columns, rows);
    this.#readTimes(columns, rows);
    if (orderTags === null) return columns;
    return { ...columns, tag: tagsOf(columns.entryOrder, orderTags), exitTag: tagsOf(columns.exitOrder, orderTags) };
  }

  /** The market of each trade, by its index, in the order of `finish`. */
  markets(): Uint16Array {
    const order = this.#order();
    const rows = order === null ? null : this.#closedBeforeOpen(order);
    const markets = new Uint16Array(this.count);
    for (let k = 0; k < markets.length; k++) {
      markets[k] = Math.abs(this.#valueOf(rows === null ? k : rows[k]!, SIDE_OF_MARKET)) - 1;
    }
    return markets;
  }

  #takeColumns() {
    const { count } = this;
    const pool = this.#pool;
    const noTags = new Array<string | null>(count).fill(null);
    return {
      count,
      side: takeSides(pool, count),
      quantity: takeDoubles(pool, count),
      entryTime: takeDoubles(pool, count),
      entryPrice: takeDoubles(pool, count),
      exitTime: takeDoubles(pool, count),
      exitPrice: takeDoubles(pool, count),
      fees: takeDoubles(pool, count),
      pnl: takeDoubles(pool, count),
      return: takeDoubles(pool, count),
      candles: takeIntegers(pool, count),
      mae: takeDoubles(pool, count),
      mfe: takeDoubles(pool, count),
      exitReason: takeCodes(pool, count),
      ambiguous: takeCodes(pool, count),
      entryOrder: takeIntegers(pool, count),
      exitOrder: takeIntegers(pool, count),
      tag: noTags,
      exitTag: noTags,
    };
  }

  /** Splits rows, in this order (null: their own), into the columns that do not depend on candles. */
  #copyRows(columns: TradeColumns, rows: Uint32Array | null): void {
    const { count, side, quantity, entryPrice, exitPrice, fees, pnl, return: fraction, candles } = columns;
    const { mae, mfe, exitReason, ambiguous, entryOrder, exitOrder } = columns;
    for (let k = 0; k < count; k++) {
      const row = rows === null ? k : rows[k]!;
      const from = this.#rows.chunkOf(row);
      const at = this.#rows.placeOf(row);
      const reason = from[at + REASON]!;
      side[k] = Math.sign(from[at + SIDE_OF_MARKET]!);
      quantity[k] = from[at + QUANTITY]!;
      entryPrice[k] = from[at + ENTRY_PRICE]!;
      exitPrice[k] = reason === STILL_OPEN ? NaN : from[at + EXIT_PRICE]!;
      fees[k] = from[at + FEES]!;
      pnl[k] = from[at + PNL]!;
      fraction[k] = from[at + PNL]! / (from[at + ENTRY_PRICE]! * from[at + QUANTITY]! * from[at + ENTRY_RATE]!);
      candles[k] = from[at + EXIT_INDEX]! - from[at + ENTRY_INDEX]!;
      mae[k] = from[at + MAE]!;
      mfe[k] = from[at + MFE]!;
      exitReason[k] = reason;
      ambiguous[k] = from[at + AMBIGUOUS]!;
      entryOrder[k] = from[at + ORDER]!;
      exitOrder[k] = from[at + EXIT_ORDER]!;
    }
  }

  #readTimes({ count, entryTime, exitTime }: TradeColumns, rows: Uint32Array | null): void {
    const all = this.#times;
    const only = all.length === 1 ? all[0]! : null;
    for (let k = 0; k < count; k++) {
      const row = rows === null ? k : rows[k]!;
      const from = this.#rows.chunkOf(row);
      const at = this.#rows.placeOf(row);
      const time = only ?? all[Math.abs(from[at + SIDE_OF_MARKET]!) - 1]!;
      entryTime[k] = time[from[at + ENTRY_INDEX]!]!;
      exitTime[k] = from[at + REASON]! === STILL_OPEN ? NaN : time[from[at + EXIT_INDEX]!]!;
    }
  }

  #valueOf(row: number, field: number): number {
    return this.#rows.chunkOf(row)[this.#rows.placeOf(row) + field]!;
  }

  /** Rows in order of entry, then of exit; null when they already are. */
  #order(): Uint32Array | null {
    if (this.#isSorted) return null;
    if (this.#ordered.length !== this.count) this.#ordered = this.#sort();
    return this.#ordered;
  }

  /** Numbers are small and few rows have the same one: each is counted, and then has its place. */
  #sort(): Uint32Array {
    const { count } = this;
    const numbers = new Uint32Array(count);
    let last = 0;
    for (let row = 0; row < count; row++) {
      numbers[row] = this.#valueOf(row, NUMBER);
      last = Math.max(last, numbers[row]!);
    }
    const places = new Uint32Array(last + 2);
    for (let row = 0; row < count; row++) places[numbers[row]! + 1]!++;
    for (let number = 1; number <= last; number++) places[number]! += places[number - 1]!;
    const rows = new Uint32Array(count);
    for (let row = 0; row < count; row++) rows[places[numbers[row]!]!++] = row;
    return rows;
  }

  /** The rows of closed trades, then those of open ones. */
  #closedBeforeOpen(order: Uint32Array): Uint32Array {
    const all = new Uint32Array(order.length);
    const open: number[] = [];
    let closed = 0;
    for (const row of order) {
      if (this.#valueOf(row, REASON) === STILL_OPEN) open.push(row);
      else all[closed++] = row;
    }
    all.set(open, closed);
    return all;
  }
}

function tagsOf(orders: Int32Array, orderTags: readonly (string | null)[]): (string | null)[] {
  const tags = new Array<string | null>(orders.length);
  for (let k = 0; k < tags.length; k++) tags[k] = orderTags[orders[k]!] ?? null;
  return tags;
}
