/** A module that decides on many markets, as the simulator's strategy. */
import type { InputCandles } from "../../../engine/inputs.ts";
import type { MarketView, PortfolioAccount, PortfolioOrders } from "../../../engine/portfolio/portfolio.ts";
import { firstFrom } from "../../../engine/portfolio/timeline.ts";
import { RunError } from "../../common/outcome.ts";
import {
  FLAG_HAS_CLOSED,
  FLAG_IS_MEMBER,
  FRAME,
  MARKET,
  MARKET_BYTES,
  MARKETS,
  MARKETS_BYTES,
  ORDER_BYTES,
  RUN_ORDERS_MAX,
  TAG_BYTES_MAX,
} from "../contracts/abi.ts";
import { countCall } from "../decision_calls.ts";
import { InstancePortfolio } from "../markets/instance_portfolio.ts";
import type { Guest } from "./guest.ts";
import { MarketInputs, marketInputsBytes } from "./market_inputs.ts";
import { OrderTable, SignalFault } from "./orders.ts";
import { PortfolioTables, portfolioTablesBytes } from "./portfolio_tables.ts";
import { COLUMNS, columnsBytes } from "./strategy.ts";
import type { Views } from "./trade_rows.ts";

const UTF8 = new TextDecoder("utf-8", { fatal: true });

interface PortfolioRun {
  /** The marks, which are the rows of plots; null: they are not kept. */
  readonly instants: Float64Array | null;
  /** Other candles of each market. */
  readonly inputs: readonly (readonly InputCandles[])[];
}

/** A module on its markets. */
export class GuestPortfolio extends InstancePortfolio<Guest> {
  readonly #run: PortfolioRun;

  /** @param run Absent: made-up markets. */
  constructor(make: () => Guest, candlesMin: number, run: PortfolioRun = { instants: null, inputs: [] }) {
    super(make, candlesMin);
    this.#run = run;
  }

  protected play(guest: Guest, markets: readonly MarketView[]): PortfolioPlayer {
    return new PortfolioPlayer(guest, markets, this.#run);
  }
}

/** Runs one guest over one run's markets. A row of a candle is written into its memory once the candle has closed. */
class PortfolioPlayer {
  readonly #guest: Guest;
  /** Addresses: of the block, its rows, the order table, its results and the markets of its rows. */
  readonly #block: number;
  readonly #rows: number;
  readonly #orders: number;
  readonly #results: number;
  readonly #orderMarkets: number;
  /** Of each market's columns. */
  readonly #columns: readonly (readonly number[])[];
  readonly #table: OrderTable;
  readonly #tables: PortfolioTables;
  readonly #inputs: MarketInputs;
  /** Rows of each market that are shown. */
  readonly #shown: Int32Array;
  /** The memory that the views are of: its length is 0 once it has grown. */
  #buffer: ArrayBufferLike;
  #words: Int32Array;
  #doubles: Float64Array;
  #targets = 0;
  /** The moment of the decision. */
  #now = 0;

  constructor(guest: Guest, markets: readonly MarketView[], { instants, inputs }: PortfolioRun) {
    const { ordersMax, memory } = guest;
    const asked = markets.map(({ candles, index }) => guest.inputs.take(candles, inputs[index] ?? []));
    const ids = markets.map(({ id }) => new TextEncoder().encode(id));
    const columnsAt = markets.map(({ candles }) => columnsBytes(candles.time.length));
    const bytes = [
      ...[MARKETS_BYTES, markets.length * MARKET_BYTES, ordersMax * ORDER_BYTES, ordersMax * 4, ordersMax * 4],
      ...columnsAt,
      ...ids.map(({ length }) => length),
      ...portfolioTablesBytes(guest),
      ...marketInputsBytes(asked),
    ].map((size) => Math.ceil(size / 8) * 8);
    let at = guest.allocate(bytes.reduce((sum, size) => sum + size, 0));
    const places = bytes.map((size) => (at += size) - size);
    const [block = 0, rows = 0, orders = 0, results = 0, orderMarkets = 0] = places.splice(0, 5);
    this.#block = block;
    this.#rows = rows;
    this.#orders = orders;
    this.#results = results;
    this.#orderMarkets = orderMarkets;
    this.#columns = columnsAt.map((size, n) =>
      Array.from({ length: COLUMNS }, (_, k) => places[n]! + k * size / COLUMNS)
    );
    this.#guest = guest;
    guest.plots.rows = instants?.length ?? 0;
    guest.plots.row = () => instants === null ? 0 : firstFrom(instants, this.#now);
    this.#buffer = memory.buffer;
    this.#words = new Int32Array(this.#buffer);
    this.#doubles = new Float64Array(this.#buffer);
    this.#table = new OrderTable(this.#buffer, guest.workingMax > 0);
    this.#shown = new Int32Array(markets.length);
    this.#describe(ids, places.slice(markets.length));
    this.#tables = new PortfolioTables(guest, this.#views, block, places.slice(2 * markets.length));
    const [pointers = 0, tables = 0] = places.slice(-2);
    this.#inputs = new MarketInputs(asked, markets, memory, { block, pointers, tables });
  }

  /** Writes what stays: the names of the markets, and where their columns and the tables are. */
  #describe(ids: readonly Uint8Array[], idsAt: readonly number[]): void {
    const words = this.#words;
    words.fill(0, this.#block / 4, this.#results / 4);
    words[(this.#block + MARKETS.count) / 4] = ids.length;
    words[(this.#block + MARKETS.rows) / 4] = this.#rows;
    words[(this.#block + MARKETS.orderMarkets) / 4] = this.#orderMarkets;
    words[(this.#guest.frame + FRAME.ordersPointer) / 4] = this.#orders;
    words[(this.#guest.frame + FRAME.resultsPointer) / 4] = this.#results;
    ids.forEach((id, n) => {
      const row = this.#rows + n * MARKET_BYTES;
      new Uint8Array(this.#buffer).set(id, idsAt[n]!);
      words[(row + MARKET.idPointer) / 4] = idsAt[n]!;
      words[(row + MARKET.idBytes) / 4] = id.length;
      words.set(this.#columns[n]!, (row + MARKET.columns) / 4);
    });
  }

  decide(now: number, markets: readonly MarketView[], account: PortfolioAccount, orders: PortfolioOrders): void {
    const at = new Date(now).toISOString();
    this.#now = now;
    this.#attach();
    this.#show(now, markets, account);
    this.#tables.write(this.#views, markets, orders);
    this.#inputs.show(markets);
    const { frame, onMarkets } = this.#guest;
    let rows: number;
    countCall();
    try {
      rows = onMarkets(frame, this.#block);
    } catch (error) {
      throw this.#guest.explain(error, `Cannot go on at ${at}`);
    } finally {
      countCall();
    }
    this.#guest.checkAbort(`Cannot go on at ${at}`);
    if (rows < 0) throw new RunError("STRATEGY_FAILED", `Cannot go on at ${at}: on_markets returned ${rows}`);
    this.#attach();
    this.#target(at, markets, orders);
    this.#place(at, rows, markets, orders);
  }

  #show(now: number, markets: readonly MarketView[], { cash, equity, initialBalance }: PortfolioAccount): void {
    const [words, doubles, { frame }] = [this.#words, this.#doubles, this.#guest];
    doubles[(frame + FRAME.cash) / 8] = cash;
    doubles[(frame + FRAME.equity) / 8] = equity;
    doubles[(frame + FRAME.initialBalance) / 8] = initialBalance;
    doubles[(this.#block + MARKETS.now) / 8] = now;
    doubles[(this.#block + MARKETS.minTrade) / 8] = 0;
    words[(this.#block + MARKETS.hasTargets) / 4] = 0;
    words[(this.#block + MARKETS.tagPointer) / 4] = 0;
    words[(this.#block + MARKETS.tagBytes) / 4] = 0;
    for (const { index, i, hasClosed, isMember, quantity, entryPrice, weight, candles } of markets) {
      const row = this.#rows + index * MARKET_BYTES;
      words[(row + MARKET.count) / 4] = i + 1;
      words[(row + MARKET.flags) / 4] = (hasClosed ? FLAG_HAS_CLOSED : 0) | (isMember ? FLAG_IS_MEMBER : 0);
      doubles[(row + MARKET.quantity) / 8] = quantity;
      doubles[(row + MARKET.entryPrice) / 8] = quantity === 0 ? 0 : entryPrice;
      doubles[(row + MARKET.weight) / 8] = weight;
      doubles[(row + MARKET.target) / 8] = 0;
      words[(row + MARKET.keep) / 4] = 0;
      const from = this.#shown[index]!;
      if (i < from) continue;
      const { time, open, high, low, close, volume } = candles;
      [time, open, high, low, close, volume].forEach((column, n) =>
        doubles.set(column.subarray(from, i + 1), this.#columns[index]![n]! / 8 + from)
      );
      this.#shown[index] = i + 1;
    }
  }

  #target(at: string, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const [words, doubles] = [this.#words, this.#doubles];
    if (words[(this.#block + MARKETS.hasTargets) / 4] === 0) return;
    const fail = (reason: string) => new RunError("INVALID_SIGNAL", `Cannot take the targets of ${at}: ${reason}`);
    const weights = Float64Array.from(markets, ({ index, id }) => {
      const row = this.#rows + index * MARKET_BYTES;
      if (words[(row + MARKET.keep) / 4] !== 0) return NaN;
      const weight = doubles[(row + MARKET.target) / 8]!;
      if (Number.isNaN(weight)) throw fail(`the target of ${id} is no number`);
      return weight;
    });
    for (const { index, quantity } of markets) {
      const weight = weights[index]!;
      if (!Number.isNaN(weight) && (weight !== 0 || quantity !== 0)) this.#targets++;
    }
    if (this.#targets > RUN_ORDERS_MAX) throw fail(`a run can have at most ${RUN_ORDERS_MAX}`);
    try {
      orders.target(weights, doubles[(this.#block + MARKETS.minTrade) / 8]!, this.#tag(fail));
    } catch (error) {
      throw error instanceof RangeError ? fail(error.message) : error;
    }
  }

  #tag(fail: (reason: string) => RunError): string | null {
    const length = this.#words[(this.#block + MARKETS.tagBytes) / 4]! >>> 0;
    const begin = this.#words[(this.#block + MARKETS.tagPointer) / 4]! >>> 0;
    if (length === 0) return null;
    if (length > TAG_BYTES_MAX) throw fail(`their tag has ${length} bytes: it may have ${TAG_BYTES_MAX}`);
    if (begin + length > this.#buffer.byteLength) throw fail("their tag is outside of the memory");
    try {
      return UTF8.decode(new Uint8Array(this.#buffer, begin, length));
    } catch {
      throw fail("their tag is not UTF-8");
    }
  }

  /** Carries out the orders of single markets. */
  #place(at: string, rows: number, markets: readonly MarketView[], orders: PortfolioOrders): void {
    const { ordersMax, frame } = this.#guest;
    const fail = (what: string, reason: string) =>
      new RunError("INVALID_SIGNAL", `Cannot take ${what} of ${at}: ${reason}`);
    if (rows > ordersMax) {
      throw fail("the orders", `on_markets returned ${rows} orders: its table has ${ordersMax} rows`);
    }
    const words = this.#words;
    for (let n = 0; n < rows; n++) {
      const market = markets[words[this.#orderMarkets / 4 + n]!];
      if (market === undefined) throw fail(`order ${n}`, `there is no market ${words[this.#orderMarkets / 4 + n]}`);
      if (market.i < 0) throw fail(`order ${n}`, `${market.id} has no candle yet`);
      try {
        const row = this.#orders + n * ORDER_BYTES;
        words[this.#results / 4 + n] = this.#table.perform(row, orders.of(market.index));
        const placed = this.#table.working.pop();
        if (placed !== undefined) this.#tables.keep(market.index, placed);
      } catch (error) {
        throw error instanceof SignalFault ? fail(`order ${n}`, error.message) : error;
      }
    }
    words[(frame + FRAME.resultsCount) / 4] = rows;
    words.fill(0, this.#orders / 4, (this.#orders + rows * ORDER_BYTES) / 4);
  }

  get #views(): Views {
    return { words: this.#words, doubles: this.#doubles };
  }

  #attach(): void {
    if (this.#buffer.byteLength > 0) return;
    this.#buffer = this.#guest.memory.buffer;
    this.#words = new Int32Array(this.#buffer);
    this.#doubles = new Float64Array(this.#buffer);
    this.#table.attach(this.#buffer);
  }
}
