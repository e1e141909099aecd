import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import type { Account, OrderBook, Strategy } from "../../../engine/strategy.ts";
import { InstanceStrategy, nameCandle } from "../player.ts";
import { Tables } from "../wasm/tables.ts";
import type { ScriptGuest, ShownColumn } from "./guest.ts";
import { ORDERS_AT, RESULTS_AT, STATE, TRADES_AT, WINDOW_ROWS, WORKING_AT } from "./layout.ts";

const MASK = WINDOW_ROWS - 1;
const ADDRESSES = { orders: ORDERS_AT, results: RESULTS_AT, trades: TRADES_AT, working: WORKING_AT };

/**
 * A script as the simulator's strategy. Candles in which nothing happens are decided on in one call. The realm has their rows, where the
 * script cannot reach them, and shows each after its close, so the script cannot look ahead.
 */
export class ScriptStrategy extends InstanceStrategy<ScriptGuest, ScriptPlayer> implements Strategy {
  protected play(guest: ScriptGuest, candles: Candles, days: TradingDayColumns | null): ScriptPlayer {
    return new ScriptPlayer(guest, candles, guest.prepare(candles, days));
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

/** Runs one script over one run's candles. */
class ScriptPlayer {
  /** The candle of the orders that are not placed yet; -1: there are none. */
  acting = -1;
  readonly #guest: ScriptGuest;
  readonly #candles: Candles;
  readonly #columns: readonly ShownColumn[];
  readonly #tables: Tables;
  readonly #hasLists: boolean;
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  readonly #windows: Float64Array;
  /** Rows that the script sees. */
  #shown = 0;
  /** Rows that the windows have had. */
  #filled = 0;
  #revision = -1;

  constructor(guest: ScriptGuest, candles: Candles, columns: readonly ShownColumn[]) {
    const { memory, listsMax, windows } = guest;
    this.#guest = guest;
    this.#candles = candles;
    this.#columns = columns;
    this.#tables = new Tables(memory, ADDRESSES, listsMax);
    this.#hasLists = listsMax.workingMax > 0 || listsMax.tradesMax > 0;
    this.#words = new Int32Array(memory);
    this.#doubles = new Float64Array(memory);
    this.#windows = windows;
  }

  decideAhead(i: number, until: number, account: Account, book: OrderBook): number {
    const doubles = this.#doubles;
    doubles[STATE.cash / 8] = account.cash;
    doubles[STATE.quantity / 8] = account.quantity;
    doubles[STATE.entryPrice / 8] = account.entryPrice;
    doubles[STATE.initialBalance / 8] = account.initialBalance;
    if (this.#revision !== book.revision) this.#takeChanges(book);
    while (i < until) {
      doubles[STATE.close / 8] = this.#candles.close[i]!;
      this.#show(i);
      if (until > i + 1) this.#fillWindows(i + 1, until);
      const reached = this.#guest.decide(i, until, this.#candles);
      const isActing = this.#guest.rows > 0;
      // The realm has shown the rows behind the first one.
      this.#shown = isActing ? reached + 1 : reached;
      if (isActing) return this.acting = reached;
      i = reached;
    }
    return until;
  }

  place(i: number, book: OrderBook): void {
    if (this.acting !== i) return;
    this.acting = -1;
    this.#tables.perform(this.#guest.rows, book, () => nameCandle(this.#candles, i));
  }

  #takeChanges(book: OrderBook): void {
    const words = this.#words;
    this.#revision = book.revision;
    words[STATE.workingOrders / 4] = book.workingOrders;
    if (!this.#hasLists) return;
    const tables = this.#tables;
    tables.writeLists(book);
    words[STATE.tradesCount / 4] = tables.tradesCount;
    words[STATE.tradesRevision / 4] = tables.tradesRevision;
    words[STATE.workingCount / 4] = tables.workingCount;
    words[STATE.workingRevision / 4] = tables.workingRevision;
  }

  /** Shows the rows up to candle `i`, which has closed. */
  #show(i: number): void {
    const columns = this.#columns;
    const first = this.#shown;
    for (let n = 0; n < columns.length; n++) {
      const { rows, whole } = columns[n]!;
      for (let row = first; row <= i; row++) rows[row] = whole[row]!;
    }
  }

  /** Gives the realm the rows from `from` on and before `until`. */
  #fillWindows(from: number, until: number): void {
    const windows = this.#windows;
    const columns = this.#columns;
    const { close } = this.#candles;
    const first = Math.max(from, this.#filled);
    for (let row = first; row < until; row++) windows[row & MASK] = close[row]!;
    for (let n = 0; n < columns.length; n++) {
      const { whole } = columns[n]!;
      const window = (n + 1) * WINDOW_ROWS;
      for (let row = first; row < until; row++) windows[window + (row & MASK)] = whole[row]!;
    }
    this.#filled = until;
  }
}
