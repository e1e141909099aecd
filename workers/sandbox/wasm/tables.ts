import type { OrderBook } from "../../../engine/strategy.ts";
import type { FillRecord } from "../../../engine/trade_watch.ts";
import { RunError } from "../../common/outcome.ts";
import { DETAIL_BYTES, FILL_BYTES, ORDER_BYTES, TRADE, TRADE_BYTES } from "../contracts/abi.ts";
import { OrderTable, SignalFault } from "./orders.ts";
import { writeDetails, writeFill } from "./trade_rows.ts";

/** Where a guest's tables are. */
interface TableAddresses {
  readonly orders: number;
  readonly results: number;
  readonly trades: number;
  readonly working: number;
  /** Of the details of trades, and of fills; absent: there are none. */
  readonly details?: number | undefined;
  readonly fills?: number | undefined;
}

/** The tables in a guest's memory: its orders with their results, and the lists that it reads. */
export class Tables {
  readonly #at: TableAddresses;
  readonly #tradesMax: number;
  readonly #workingMax: number;
  readonly #orders: OrderTable;
  #words: Int32Array;
  #doubles: Float64Array;
  /** Rows of the lists; and numbers that grow when a list changes. */
  tradesCount = 0;
  tradesRevision = 0;
  workingCount = 0;
  workingRevision = 0;

  /** @param max Rows of the lists; 0: one is not kept. @param markets As of OrderTable. */
  constructor(
    memory: ArrayBufferLike,
    at: TableAddresses,
    max: { readonly tradesMax: number; readonly workingMax: number },
    markets: number,
  ) {
    this.#at = at;
    this.#tradesMax = max.tradesMax;
    this.#workingMax = max.workingMax;
    this.#orders = new OrderTable(memory, max.workingMax > 0, markets);
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
  }

  /** Renews the views of the memory: growth detaches the old ones. */
  attach(memory: ArrayBufferLike): void {
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
    this.#orders.attach(memory);
  }

  /** @param i The deciding candle. @param nameOf The guest's number of an order. */
  writeLists(book: OrderBook, i: number, nameOf: (order: number) => number = (order) => order): void {
    if (this.#tradesMax > 0) this.#writeTrades(book, i, nameOf);
    if (this.#workingMax > 0) this.#writeWorking(book);
  }

  /** Writes the first fills of the list, `max` at most, and takes them from it. Returns their number. */
  writeFills(fills: FillRecord[], max: number, nameOf: (order: number) => number = (order) => order): number {
    const { fills: at } = this.#at;
    if (at === undefined) return 0;
    const taken = fills.splice(0, max);
    const memory = { words: this.#words, doubles: this.#doubles };
    for (const [n, fill] of taken.entries()) writeFill(memory, at + n * FILL_BYTES, fill, nameOf);
    return taken.length;
  }

  #writeTrades(book: OrderBook, i: number, nameOf: (order: number) => number): void {
    const { details } = this.#at;
    const words = this.#words;
    const doubles = this.#doubles;
    const count = Math.min(book.openTrades, this.#tradesMax);
    let isSame = count === this.tradesCount;
    for (let n = 0; n < count; n++) {
      const row = this.#at.trades + n * TRADE_BYTES;
      const trade = book.tradeAt(n);
      const quantity = book.tradeQuantity(trade);
      const entryPrice = book.tradeEntryPrice(trade);
      isSame &&= words[(row + TRADE.number) >>> 2] === trade && doubles[(row + TRADE.quantity) >>> 3] === quantity &&
        doubles[(row + TRADE.entryPrice) >>> 3] === entryPrice;
      words[(row + TRADE.number) >>> 2] = trade;
      doubles[(row + TRADE.quantity) >>> 3] = quantity;
      doubles[(row + TRADE.entryPrice) >>> 3] = entryPrice;
      if (details === undefined) continue;
      // Its profit and its extremes change with each candle.
      isSame = false;
      const known = book.describeTrade(trade, i);
      if (known !== null) writeDetails({ words, doubles }, details + n * DETAIL_BYTES, known, nameOf);
    }
    this.tradesCount = count;
    if (!isSame) this.tradesRevision++;
  }

  #writeWorking(book: OrderBook): void {
    const words = this.#words;
    const first = this.#at.working >>> 2;
    this.#orders.sweep(book);
    const { working } = this.#orders;
    const count = Math.min(working.length, this.#workingMax);
    let isSame = count === this.workingCount;
    for (let n = 0; n < count; n++) {
      isSame &&= words[first + n] === working[n];
      words[first + n] = working[n]!;
    }
    this.workingCount = count;
    if (!isSame) this.workingRevision++;
  }

  /**
   * Carries out the first rows of the order table, writes their results, and clears them.
   *
   * @param nameCandle Names the deciding candle.
   * @throws {RunError} When a row is invalid.
   */
  perform(rows: number, book: OrderBook, nameCandle: () => string): void {
    const { orders, results } = this.#at;
    for (let n = 0; n < rows; n++) {
      try {
        this.#words[(results >>> 2) + n] = this.#orders.perform(orders + n * ORDER_BYTES, book);
      } catch (error) {
        if (!(error instanceof SignalFault)) throw error;
        throw new RunError("INVALID_SIGNAL", `Cannot take order ${n} of ${nameCandle()}: ${error.message}`);
      }
    }
    // `fill` takes longer for a few rows.
    const words = this.#words;
    for (let at = orders >>> 2; at < (orders + rows * ORDER_BYTES) >>> 2; at++) words[at] = 0;
  }
}
