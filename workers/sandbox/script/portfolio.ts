/** A script that decides on many markets, as the simulator's strategy. */
import type { MarketView, PortfolioAccount, PortfolioOrders } from "../../../engine/portfolio/portfolio.ts";
import { firstFrom } from "../../../engine/portfolio/timeline.ts";
import type { OrderBook } from "../../../engine/strategy.ts";
import type { FillRecord } from "../../../engine/trade_watch.ts";
import { RunError } from "../../common/outcome.ts";
import { FILL_BYTES, ORDERS_MAX, RUN_ORDERS_MAX } from "../contracts/abi.ts";
import {
  DETAILS_AT,
  FILL_MARKETS_AT,
  FILLS_AT,
  FILLS_AT_ONCE,
  ORDERS_AT,
  PORTFOLIO as AT,
  RESULTS_AT,
  STATE,
  TRADES_AT,
  WORKING_AT,
} from "../contracts/layout.ts";
import { InstancePortfolio } from "../markets/instance_portfolio.ts";
import { Tables } from "../wasm/tables.ts";
import { writeFill } from "../wasm/trade_rows.ts";
import { OrderNames } from "./order_names.ts";
import type { PortfolioGuest } from "./portfolio_guest.ts";
import { brokenRealm, isWhole } from "./realm_answers.ts";
import type { ShownColumn } from "./realm_guest.ts";

const ADDRESSES = { orders: ORDERS_AT, results: RESULTS_AT, trades: TRADES_AT, working: WORKING_AT };

/** A script on its markets. */
export class ScriptPortfolio extends InstancePortfolio<PortfolioGuest> {
  readonly #instants: Float64Array;

  /** @param instants The marks of the run. */
  constructor(make: () => PortfolioGuest, candlesMin: number, instants: Float64Array) {
    super(make, candlesMin);
    this.#instants = instants;
  }

  protected play(guest: PortfolioGuest, markets: readonly MarketView[]): PortfolioPlayer {
    return new PortfolioPlayer(guest, markets, this.#instants);
  }
}

/** The orders of one market: the tables in its realm. */
interface MarketBook {
  readonly words: Int32Array;
  readonly tables: Tables;
  readonly names: OrderNames;
}

/** Runs one instance over one run's markets. A row of a candle is written into the realm's memory once the candle has closed. */
class PortfolioPlayer {
  readonly #guest: PortfolioGuest;
  readonly #columns: readonly (readonly ShownColumn[])[];
  readonly #instants: Float64Array;
  /** Rows of each market that are shown. */
  readonly #shown: Int32Array;
  readonly #books: (MarketBook | null)[];
  /** Of the memory in which the realm takes fills. */
  readonly #views: { readonly words: Int32Array; readonly doubles: Float64Array };
  #targets = 0;

  constructor(guest: PortfolioGuest, markets: readonly MarketView[], instants: Float64Array) {
    const { memory } = guest;
    this.#guest = guest;
    this.#views = { words: new Int32Array(memory), doubles: new Float64Array(memory) };
    this.#columns = guest.prepare(markets.map(({ candles }) => candles));
    this.#instants = instants;
    this.#shown = new Int32Array(this.#columns.length);
    this.#books = this.#columns.map(() => null);
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    this.#show(markets, account);
    this.#writeLists(markets, orders);
    if (this.#guest.hasFills) this.#giveFills(orders.watchFills());
    this.#guest.decide(now, firstFrom(this.#instants, now));
    this.#target(now, markets, orders);
    this.#place(now, markets, orders);
  }

  #show(markets: readonly MarketView[], { cash, equity, initialBalance }: PortfolioAccount): void {
    const { state } = this.#guest;
    state[AT.cash] = cash;
    state[AT.equity] = equity;
    state[AT.initialBalance] = initialBalance;
    for (const { index, i, hasClosed, isMember, quantity, entryPrice, weight } of markets) {
      const at = AT.head + index * AT.market;
      state[at + AT.i] = i;
      state[at + AT.hasClosed] = Number(hasClosed);
      state[at + AT.isMember] = Number(isMember);
      state[at + AT.quantity] = quantity;
      state[at + AT.entryPrice] = quantity === 0 ? NaN : entryPrice;
      state[at + AT.weight] = weight;
      const from = this.#shown[index]!;
      if (i < from) continue;
      for (const { rows, whole } of this.#columns[index]!) rows.set(whole.subarray(from, i + 1), from);
      this.#shown[index] = i + 1;
    }
  }

  /** The lists of the markets whose orders the script has asked for. */
  #writeLists(markets: readonly MarketView[], orders: PortfolioOrders): void {
    this.#books.forEach((known, market) => {
      if (known !== null) this.#writeBook(known, orders.of(market), markets[market]!.i);
    });
  }

  #writeBook({ words, tables, names }: MarketBook, book: OrderBook, i: number): void {
    const { workingMax, tradesMax } = this.#guest.listsMax;
    words[STATE.workingOrders / 4] = book.workingOrders;
    if (workingMax + tradesMax === 0) return;
    tables.writeLists(book, i, names.nameOf);
    words[STATE.tradesCount / 4] = tables.tradesCount;
    words[STATE.tradesRevision / 4] = tables.tradesRevision;
    words[STATE.workingCount / 4] = tables.workingCount;
    words[STATE.workingRevision / 4] = tables.workingRevision;
    names.writeWorking(tables.workingCount);
  }

  /** Empties a list of fills into the realm. */
  #giveFills(fills: FillRecord[]): void {
    const views = this.#views;
    for (let from = 0; from < fills.length; from += FILLS_AT_ONCE) {
      const given = fills.slice(from, from + FILLS_AT_ONCE);
      for (const [n, fill] of given.entries()) {
        const names = this.#books[fill.market]?.names;
        writeFill(views, FILLS_AT + n * FILL_BYTES, fill, names?.nameOf ?? (() => 0));
        views.words[FILL_MARKETS_AT / 4 + n] = fill.market;
      }
      this.#guest.giveFills(given.length);
    }
    fills.length = 0;
  }

  #target(now: number, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { state } = this.#guest;
    if (state[AT.hasTarget] !== 1) return;
    const first = AT.head + markets.length * AT.market;
    const weights = state.slice(first, first + markets.length);
    for (const { index, quantity } of markets) {
      const weight = weights[index]!;
      if (!Number.isNaN(weight) && (weight !== 0 || quantity !== 0)) this.#targets++;
    }
    const fail = (reason: string) =>
      new RunError("INVALID_SIGNAL", `Cannot take the targets of ${new Date(now).toISOString()}: ${reason}`);
    if (this.#targets > RUN_ORDERS_MAX) throw fail(`a run can have at most ${RUN_ORDERS_MAX}`);
    try {
      orders.target(weights, state[AT.minTrade], this.#guest.tag());
    } catch (error) {
      throw error instanceof RangeError ? fail(error.message) : error;
    }
  }

  /** Carries out the orders of single markets. */
  #place(now: number, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { state } = this.#guest;
    const count = state[AT.touched]!;
    if (!isWhole(count, markets.length)) throw brokenRealm("its orders are none");
    const first = AT.head + markets.length * (AT.market + 1);
    for (let n = 0; n < count; n++) {
      const market = state[first + n]!;
      if (!isWhole(market, markets.length - 1)) throw brokenRealm("it orders in no market");
      const { words, tables, names } = this.#books[market] ??= this.#open(market);
      const rows = words[STATE.rows / 4]!;
      if (!isWhole(rows, ORDERS_MAX.limit)) throw brokenRealm("its orders have no number");
      if (rows === 0) continue;
      names.readTargets(rows);
      tables.perform(rows, orders.of(market), () => `${markets[market]!.id} at ${new Date(now).toISOString()}`);
      names.readResults(rows);
    }
  }

  #open(market: number): MarketBook {
    const memory = this.#guest.book(market);
    if (memory === null) throw brokenRealm("a market has no orders");
    const markets = this.#books.length;
    const details = this.#guest.hasDetails ? DETAILS_AT : undefined;
    const tables = new Tables(memory, { ...ADDRESSES, details }, this.#guest.listsMax, markets);
    return { words: new Int32Array(memory), tables, names: new OrderNames(memory) };
  }
}
