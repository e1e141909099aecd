import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { countDecided } from "../../engine/control.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import type { Account, OrderBook, Strategy } from "../../engine/strategy.ts";
import { RunError } from "../outcome.ts";
import { FRAME, ORDER_BYTES, TRADE_BYTES } from "./wasm/abi.ts";
import { Tables } from "./wasm/tables.ts";

/** Time, open, high, low, close, volume. */
const COLUMNS = 6;

/** A module's instance: its calls, and the memory in which both sides read and write. */
export interface PlayedGuest {
  readonly warmup: number;
  /** Rows of the tables. */
  readonly ordersMax: number;
  readonly tradesMax: number;
  readonly workingMax: number;
  /** Address of the frame. */
  readonly frame: number;
  readonly memory: { readonly buffer: ArrayBufferLike };
  /** The address of a block of its memory that is the host's for the whole run. @throws {RunError} */
  allocate(byteLength: number): number;
  /** Decides at the newest candle. @returns The rows of the order table that it has written. */
  onCandle(frame: number): number;
  /** True once it has given up, even if its call returned. */
  readonly hasAborted: boolean;
  /** @throws {RunError} When it has given up. */
  checkAbort(doing: string): void;
  /** A RunError for an error of its own; others unchanged. @param doing The failed action, as "Cannot …". */
  explain(error: unknown, doing: string): unknown;
}

interface Count {
  readonly control: Int32Array;
  readonly firstIndex: number;
}

/** A strategy of which each simulation has a new instance, which must not know the last one. */
export abstract class InstanceStrategy<Guest extends { readonly warmup: number }, Player> {
  readonly warmup: number;
  readonly #makeGuest: () => Guest;
  #first: Guest | null;
  protected player: Player | null = null;

  /**
   * @param makeGuest Makes an instance: one now, and another for each further simulation.
   * @param candlesMin Candles before the first decision, even if the guest's warm-up is shorter.
   * @throws {RunError} When no instance can be made.
   */
  constructor(makeGuest: () => Guest, candlesMin: number) {
    this.#makeGuest = makeGuest;
    this.#first = makeGuest();
    this.warmup = Math.max(1, candlesMin, this.#first.warmup);
  }

  /** Has an instance play these candles. @throws {RunError} When it cannot. */
  prepare(candles: Candles, _pool?: BufferPool | null, days: TradingDayColumns | null = null): void {
    const first = this.#first;
    this.#first = null;
    // Release the last instance before making another: its memory may be large.
    this.player = null;
    this.player = this.play(first ?? this.#makeGuest(), candles, days);
  }

  protected abstract play(guest: Guest, candles: Candles, days: TradingDayColumns | null): Player;
}

/**
 * A module as the simulator's strategy. A candle is copied into its memory only after its close, so it cannot look ahead.
 */
export class GuestStrategy extends InstanceStrategy<PlayedGuest, GuestPlayer> implements Strategy {
  readonly #count: Count | null;

  /** @param count Where to count the candles that were decided on (engine/control.ts), from `firstIndex` on; null: nowhere. */
  constructor(makeGuest: () => PlayedGuest, candlesMin: number, count: Count | null = null) {
    super(makeGuest, candlesMin);
    this.#count = count;
  }

  /** Allocates the columns and tables in the guest's memory. @throws {RunError} When that fails. */
  protected play(guest: PlayedGuest, candles: Candles): GuestPlayer {
    return new GuestPlayer(guest, candles);
  }

  decide(i: number, account: Account, book: OrderBook): void {
    this.player?.decide(i, account, book);
    if (this.#count !== null) countDecided(this.#count.control, i + 1 - this.#count.firstIndex);
  }
}

/** Runs one guest over one run's candles. A decision costs six stores for the candle, ten for the account and one call. */
class GuestPlayer {
  readonly #guest: PlayedGuest;
  readonly #tables: Tables;
  readonly #frame: number;
  readonly #lists: boolean;
  readonly #candles: Candles;
  #words: Int32Array;
  #doubles: Float64Array;
  /** Candles that the guest has received. */
  #count = 0;
  /** Rows of the last decision. */
  #resultsCount = 0;
  /** Indexes into #doubles of each column's first row. */
  readonly #timeAt: number;
  readonly #openAt: number;
  readonly #highAt: number;
  readonly #lowAt: number;
  readonly #closeAt: number;
  readonly #volumeAt: number;

  constructor(guest: PlayedGuest, candles: Candles) {
    const { ordersMax, tradesMax, workingMax } = guest;
    const columnBytes = roundCapacity(candles.time.length) * 8;
    const resultsBytes = alignUp(ordersMax * 4);
    const tablesBytes = ordersMax * ORDER_BYTES + resultsBytes + tradesMax * TRADE_BYTES + alignUp(workingMax * 4);
    const columnsAt = guest.allocate(COLUMNS * columnBytes + tablesBytes);
    this.#guest = guest;
    this.#candles = candles;
    this.#frame = guest.frame;
    this.#lists = tradesMax > 0 || workingMax > 0;
    const { buffer } = guest.memory;
    this.#words = new Int32Array(buffer);
    this.#doubles = new Float64Array(buffer);
    const column = (n: number) => (columnsAt + n * columnBytes) / 8;
    this.#timeAt = column(0);
    this.#openAt = column(1);
    this.#highAt = column(2);
    this.#lowAt = column(3);
    this.#closeAt = column(4);
    this.#volumeAt = column(5);
    const orders = columnsAt + COLUMNS * columnBytes;
    const results = orders + ordersMax * ORDER_BYTES;
    const trades = results + resultsBytes;
    const working = trades + tradesMax * TRADE_BYTES;
    this.#tables = new Tables(buffer, { orders, results, trades, working }, guest);
    const columns = [0, 1, 2, 3, 4, 5].map((n) => columnsAt + n * columnBytes);
    this.#words.set([...columns, orders, results, trades, working], (this.#frame + FRAME.columns) / 4);
    this.#words[(this.#frame + FRAME.columnsCapacity) / 4] = columnBytes / 8;
    this.#words.fill(0, orders / 4, results / 4);
  }

  decide(i: number, account: Account, book: OrderBook): void {
    // When memory grows, its old views have length 0.
    if (this.#doubles.length === 0) this.#attach();
    this.#appendUpTo(i);
    this.#writeAccount(account, book);
    if (this.#lists) this.#writeLists(book);
    let rows: number;
    try {
      rows = this.#guest.onCandle(this.#frame);
    } catch (error) {
      throw this.#guest.explain(error, `Cannot go on at ${this.#nameCandle(i)}`);
    }
    if (this.#guest.hasAborted) this.#guest.checkAbort(`Cannot go on at ${this.#nameCandle(i)}`);
    this.#resultsCount = rows;
    if (rows !== 0) this.#perform(rows, i, book);
  }

  #appendUpTo(i: number): void {
    const { time, open, high, low, close, volume } = this.#candles;
    const doubles = this.#doubles;
    for (let row = this.#count; row <= i; row++) {
      doubles[this.#timeAt + row] = time[row]!;
      doubles[this.#openAt + row] = open[row]!;
      doubles[this.#highAt + row] = high[row]!;
      doubles[this.#lowAt + row] = low[row]!;
      doubles[this.#closeAt + row] = close[row]!;
      doubles[this.#volumeAt + row] = volume[row]!;
    }
    this.#count = i + 1;
  }

  #writeAccount(account: Account, book: OrderBook): void {
    const doubles = this.#doubles;
    const words = this.#words;
    const frame = this.#frame;
    words[(frame + FRAME.count) >>> 2] = this.#count;
    words[(frame + FRAME.resultsCount) >>> 2] = this.#resultsCount;
    words[(frame + FRAME.workingOrders) >>> 2] = book.workingOrders;
    words[(frame + FRAME.openTrades) >>> 2] = book.openTrades;
    doubles[(frame + FRAME.cash) >>> 3] = account.cash;
    doubles[(frame + FRAME.equity) >>> 3] = account.equity;
    doubles[(frame + FRAME.quantity) >>> 3] = account.quantity;
    doubles[(frame + FRAME.entryPrice) >>> 3] = account.quantity === 0 ? 0 : account.entryPrice;
    doubles[(frame + FRAME.initialBalance) >>> 3] = account.initialBalance;
  }

  #writeLists(book: OrderBook): void {
    this.#tables.writeLists(book);
    this.#words[(this.#frame + FRAME.tradesCount) >>> 2] = this.#tables.tradesCount;
    this.#words[(this.#frame + FRAME.workingCount) >>> 2] = this.#tables.workingCount;
  }

  #perform(rows: number, i: number, book: OrderBook): void {
    if (rows < 0) {
      throw new RunError("STRATEGY_FAILED", `Cannot go on at ${this.#nameCandle(i)}: on_candle returned ${rows}`);
    }
    const { ordersMax } = this.#guest;
    if (rows > ordersMax) {
      const found = `on_candle returned ${rows} orders: its table has ${ordersMax} rows`;
      throw new RunError("INVALID_SIGNAL", `Cannot take the orders of ${this.#nameCandle(i)}: ${found}`);
    }
    if (this.#doubles.length === 0) this.#attach();
    this.#tables.perform(rows, book, () => this.#nameCandle(i));
  }

  #nameCandle(i: number): string {
    return nameCandle(this.#candles, i);
  }

  #attach(): void {
    const { buffer } = this.#guest.memory;
    this.#words = new Int32Array(buffer);
    this.#doubles = new Float64Array(buffer);
    this.#tables.attach(buffer);
  }
}

/** A candle in the messages of failed runs. */
export function nameCandle({ time }: Candles, i: number): string {
  return `candle ${i} (${new Date(time[i]!).toISOString()})`;
}

function alignUp(byteLength: number): number {
  return Math.ceil(byteLength / 8) * 8;
}

/**
 * Rows of a column: the number of candles rounded up to four binary digits, at least 1,024.
 *
 * A guest sees the requested size before the first candle. Rounding keeps it from learning when the run ends.
 */
export function roundCapacity(candlesCount: number): number {
  const step = 2 ** Math.max(7, Math.floor(Math.log2(Math.max(candlesCount, 1))) - 3);
  return Math.max(1024, Math.ceil(candlesCount / step) * step);
}
