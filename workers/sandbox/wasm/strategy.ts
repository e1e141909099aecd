import type { Candles } from "../../../engine/candles.ts";
import type { Account, OrderBook, Strategy } from "../../../engine/strategy.ts";
import { RunError } from "../../common/outcome.ts";
import { countCall } from "../decision_calls.ts";
import { InstanceStrategy, nameCandle, roundCapacity } from "../player.ts";
import { DETAIL_BYTES, FILL_BYTES, FRAME, ORDER_BYTES, TRADE_BYTES } from "../contracts/abi.ts";
import { type Driver, STATE } from "./driver.ts";
import type { Guest } from "./guest.ts";
import { GuestInputs, inputsBytes } from "./guest_inputs.ts";
import { Tables } from "./tables.ts";

/** Time, open, high, low, close, volume. */
export const COLUMNS = 6;

/**
 * A module as the simulator's strategy. Candles in which nothing happens are decided on in one call. A candle is copied into the module's
 * memory only after its close, so it cannot look ahead.
 */
export class GuestStrategy extends InstanceStrategy<Guest, GuestPlayer> implements Strategy {
  /** Allocates the columns and tables in the guest's memory. @throws {RunError} When that fails. */
  protected play(guest: Guest, candles: Candles): GuestPlayer {
    return new GuestPlayer(guest, candles);
  }

  decideAhead(i: number, until: number, account: Account, book: OrderBook): number {
    return this.player?.decideAhead(i, until, account, book) ?? until;
  }

  /** Places the orders of the last decision; decides first where nobody asked for it. */
  decide(i: number, account: Account, book: OrderBook): void {
    if (this.player?.acting !== i) this.player?.decideAhead(i, i + 1, account, book);
    this.player?.place(i, book);
  }
}

/** Runs one guest over one run's candles. */
class GuestPlayer {
  /** The candle of the orders that are not placed yet; -1: there are none. */
  acting = -1;
  readonly #guest: Guest;
  readonly #driver: Driver;
  readonly #drive: ReturnType<Driver["connect"]>;
  readonly #tables: Tables;
  readonly #hasLists: boolean;
  readonly #fillsMax: number;
  readonly #candles: Candles;
  /** The memory that the tables were attached to: its length is 0 once it has grown. */
  #buffer: ArrayBufferLike;
  /** True once the guest has the rows before its first decision. */
  #hasLookback = false;
  /** The candle whose score it is asked for; null: none. */
  #scoring: number | null = null;
  /** Null: it asked for none. */
  readonly #inputs: GuestInputs | null;
  /** Addresses of the columns. */
  readonly #columns: readonly number[];

  constructor(guest: Guest, candles: Candles) {
    const { ordersMax, tradesMax, workingMax, fillsMax, hasDetails, memory, driver } = guest;
    const columnBytes = columnsBytes(candles.time.length) / COLUMNS;
    const resultsBytes = alignUp(ordersMax * 4);
    const detailsBytes = hasDetails ? tradesMax * DETAIL_BYTES : 0;
    const tablesBytes = ordersMax * ORDER_BYTES + resultsBytes + tradesMax * TRADE_BYTES + alignUp(workingMax * 4) +
      detailsBytes + fillsMax * FILL_BYTES;
    const inputs = guest.inputs.take(candles);
    const columnsAt = guest.allocate(COLUMNS * columnBytes + tablesBytes + inputsBytes(inputs));
    this.#guest = guest;
    this.#driver = driver;
    this.#candles = candles;
    this.#hasLists = tradesMax > 0 || workingMax > 0 || fillsMax > 0;
    this.#fillsMax = fillsMax;
    this.#buffer = memory.buffer;
    const orders = columnsAt + COLUMNS * columnBytes;
    const results = orders + ordersMax * ORDER_BYTES;
    const trades = results + resultsBytes;
    const working = trades + tradesMax * TRADE_BYTES;
    const details = hasDetails ? working + alignUp(workingMax * 4) : undefined;
    const fills = working + alignUp(workingMax * 4) + detailsBytes;
    this.#tables = new Tables(
      this.#buffer,
      { orders, results, trades, working, details, fills },
      guest,
      guest.markets,
    );
    this.#columns = Array.from({ length: COLUMNS }, (_, n) => columnsAt + n * columnBytes);
    const words = new Int32Array(this.#buffer);
    words.set([...this.#columns, orders, results, trades, working], (guest.frame + FRAME.columns) / 4);
    words[(guest.frame + FRAME.detailsPointer) / 4] = details ?? 0;
    words[(guest.frame + FRAME.fillsPointer) / 4] = fillsMax === 0 ? 0 : fills;
    words[(guest.frame + FRAME.columnsCapacity) / 4] = columnBytes / 8;
    words.fill(0, orders / 4, results / 4);
    const inputsAt = columnsAt + COLUMNS * columnBytes + tablesBytes;
    this.#inputs = inputs.length === 0 ? null : new GuestInputs(inputs, candles, memory, inputsAt);
    words[(guest.frame + FRAME.inputsPointer) / 4] = inputs.length === 0 ? 0 : inputsAt;
    this.#drive = driver.connect(guest, this.#columns);
    guest.plots.rows = candles.time.length;
    guest.plots.row = () => this.#scoring ?? driver.deciding;
  }

  decideAhead(i: number, until: number, account: Account, book: OrderBook): number {
    const { words, doubles } = this.#driver;
    if (!this.#hasLookback) this.#showLookback(i);
    words[STATE.workingOrders / 4] = book.workingOrders;
    words[STATE.openTrades / 4] = book.openTrades;
    doubles[STATE.cash / 8] = account.cash;
    doubles[STATE.quantity / 8] = account.quantity;
    doubles[STATE.entryPrice / 8] = account.quantity === 0 ? 0 : account.entryPrice;
    doubles[STATE.initialBalance / 8] = account.initialBalance;
    while (i < until) {
      if (this.#hasLists) this.#writeLists(book, i);
      i = this.#decide(i, this.#hasLists ? i + 1 : until);
      if (words[STATE.rows / 4] !== 0) return this.acting = i - 1;
    }
    return until;
  }

  /** Shows candle `i` before it is decided on, and asks how good an entry would be. @throws {RunError} When the module fails. */
  score(i: number): number {
    if (!this.#hasLookback) this.#showLookback(i);
    const { time, open, high, low, close, volume } = this.#candles;
    const { buffer } = this.#guest.memory;
    const doubles = new Float64Array(buffer);
    [time, open, high, low, close, volume].forEach((column, n) => doubles[this.#columns[n]! / 8 + i] = column[i]!);
    new Int32Array(buffer)[(this.#guest.frame + FRAME.count) / 4] = i + 1;
    this.#inputs?.show(i, i + 1);
    this.#scoring = i;
    countCall();
    try {
      return this.#guest.score(`Cannot rank at ${nameCandle(this.#candles, i)}`);
    } finally {
      this.#scoring = null;
      countCall();
    }
  }

  /** @returns The first candle that is not decided on. */
  #decide(i: number, until: number): number {
    const driver = this.#driver;
    if (i >= driver.filled) driver.fill(this.#candles, i);
    const filled = Math.min(until, driver.filled);
    const next = this.#inputs?.show(i, filled) ?? filled;
    let reached: number;
    countCall();
    try {
      reached = this.#drive(i, next);
    } catch (error) {
      throw this.#guest.explain(error, `Cannot go on at ${nameCandle(this.#candles, driver.deciding)}`);
    } finally {
      countCall();
    }
    if (this.#guest.hasAborted) this.#guest.checkAbort(`Cannot go on at ${nameCandle(this.#candles, reached - 1)}`);
    return reached;
  }

  /** Places the orders of the decision at candle `i`. */
  place(i: number, book: OrderBook): void {
    if (this.acting !== i) return;
    this.acting = -1;
    const rows = this.#driver.words[STATE.rows / 4]!;
    const name = () => nameCandle(this.#candles, i);
    if (rows < 0) throw new RunError("STRATEGY_FAILED", `Cannot go on at ${name()}: on_candle returned ${rows}`);
    const { ordersMax } = this.#guest;
    if (rows > ordersMax) {
      const found = `on_candle returned ${rows} orders: its table has ${ordersMax} rows`;
      throw new RunError("INVALID_SIGNAL", `Cannot take the orders of ${name()}: ${found}`);
    }
    this.#attach();
    this.#tables.perform(rows, book, name);
  }

  #writeLists(book: OrderBook, i: number): void {
    const { words } = this.#driver;
    this.#attach();
    this.#tables.writeLists(book, i);
    if (this.#fillsMax > 0) {
      const count = this.#tables.writeFills(book.watchFills(), this.#fillsMax);
      new Int32Array(this.#buffer)[(this.#guest.frame + FRAME.fillsCount) / 4] = count;
    }
    words[STATE.tradesCount / 4] = this.#tables.tradesCount;
    words[STATE.workingCount / 4] = this.#tables.workingCount;
  }

  /** Writes the rows before candle `i`, that of the first decision. */
  #showLookback(i: number): void {
    const { time, open, high, low, close, volume } = this.#candles;
    const doubles = new Float64Array(this.#guest.memory.buffer);
    [time, open, high, low, close, volume].forEach((column, n) =>
      doubles.set(column.subarray(0, i), this.#columns[n]! / 8)
    );
    this.#hasLookback = true;
  }

  #attach(): void {
    if (this.#buffer.byteLength > 0) return;
    this.#buffer = this.#guest.memory.buffer;
    this.#tables.attach(this.#buffer);
  }
}

/** Bytes of the columns of a run. */
export function columnsBytes(candlesCount: number): number {
  return COLUMNS * 8 * roundCapacity(candlesCount);
}

function alignUp(byteLength: number): number {
  return Math.ceil(byteLength / 8) * 8;
}
