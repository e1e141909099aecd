import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import type { Account, OrderBook, Strategy } from "../../../engine/strategy.ts";
import type { FillRecord } from "../../../engine/trade_watch.ts";
import { InstanceStrategy, nameCandle } from "../player.ts";
import { Tables } from "../wasm/tables.ts";
import type { ScriptGuest, ShownColumn } from "./guest.ts";
import {
  DETAILS_AT,
  FILLS_AT,
  FILLS_AT_ONCE,
  ORDERS_AT,
  RESULTS_AT,
  STATE,
  TRADES_AT,
  WINDOW_ROWS,
  WORKING_AT,
} from "../contracts/layout.ts";
import { OrderNames } from "./order_names.ts";

const MASK = WINDOW_ROWS - 1;
const ADDRESSES = { orders: ORDERS_AT, results: RESULTS_AT, trades: TRADES_AT, working: WORKING_AT, fills: FILLS_AT };

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
  readonly #names: OrderNames;
  readonly #hasLists: boolean;
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;
  readonly #windows: Float64Array;
  /** Rows that the windows have had. */
  #filled = 0;
  #revision = -1;

  constructor(guest: ScriptGuest, candles: Candles, columns: readonly ShownColumn[]) {
    const { memory, listsMax, windows } = guest;
    this.#guest = guest;
    this.#candles = candles;
    this.#columns = columns;
    const details = guest.hasDetails ? DETAILS_AT : undefined;
    this.#tables = new Tables(memory, { ...ADDRESSES, details }, listsMax, guest.markets);
    this.#names = new OrderNames(memory);
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
    if (this.#revision !== book.revision) this.#takeChanges(book, i);
    while (i < until) {
      if (until > this.#filled) this.#fillWindows(i);
      const reached = this.#guest.decide(i, until, this.#candles);
      if (this.#guest.rows > 0) return this.acting = reached;
      i = reached;
    }
    return until;
  }

  score(i: number): number {
    if (i >= this.#filled) this.#fillWindows(i);
    return this.#guest.score(i, this.#candles);
  }

  place(i: number, book: OrderBook): void {
    if (this.acting !== i) return;
    this.acting = -1;
    const { rows } = this.#guest;
    this.#names.readTargets(rows);
    this.#tables.perform(rows, book, () => nameCandle(this.#candles, i));
    this.#names.readResults(rows);
  }

  #takeChanges(book: OrderBook, i: number): void {
    const words = this.#words;
    if (this.#guest.hasFills) this.#giveFills(book.watchFills());
    this.#revision = book.revision;
    words[STATE.workingOrders / 4] = book.workingOrders;
    if (!this.#hasLists) return;
    const tables = this.#tables;
    tables.writeLists(book, i, this.#names.nameOf);
    words[STATE.tradesIndex / 4] = i;
    words[STATE.tradesCount / 4] = tables.tradesCount;
    words[STATE.tradesRevision / 4] = tables.tradesRevision;
    if (words[STATE.workingRevision / 4] === tables.workingRevision) return;
    words[STATE.workingCount / 4] = tables.workingCount;
    words[STATE.workingRevision / 4] = tables.workingRevision;
    this.#names.writeWorking(tables.workingCount);
  }

  #giveFills(fills: FillRecord[]): void {
    while (fills.length > 0) this.#guest.giveFills(this.#tables.writeFills(fills, FILLS_AT_ONCE, this.#names.nameOf));
  }

  /** Gives the realm the rows from candle `i` on, as many as there is room for. Rows of the lookback are shown at once. */
  #fillWindows(i: number): void {
    const windows = this.#windows;
    const { close } = this.#candles;
    const first = Math.max(i, this.#filled);
    const end = Math.min(i + WINDOW_ROWS, close.length);
    for (let row = first; row < end; row++) windows[row & MASK] = close[row]!;
    for (const [n, { rows, whole }] of this.#columns.entries()) {
      const window = (n + 1) * WINDOW_ROWS;
      for (let row = first; row < end; row++) windows[window + (row & MASK)] = whole[row]!;
      for (let row = this.#filled; row < i; row++) rows[row] = whole[row]!;
    }
    this.#filled = end;
  }
}
