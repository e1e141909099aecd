import { MEMORY_BYTES, PORTFOLIO as AT, REQUESTS_CHARS_MAX } from "../contracts/layout.ts";
import type { PortfolioDoor } from "../script/realm/portfolio.ts";
import { brokenRealm, isWhole, parse } from "../script/realm_answers.ts";
import { MACHINE, type Machine } from "./machine.ts";
import { SharedTables } from "./shared_tables.ts";
import { ShownColumns } from "./shown_columns.ts";

/** The orders of one market: the host's memory, and the tables in the interpreter that are copied to and from it. */
interface Book {
  readonly memory: ArrayBuffer;
  readonly shared: SharedTables;
}

/** The parts of a door that its part for many markets uses. */
interface PortfolioParts {
  readonly machine: Machine;
  /** The address of the word with the row of the deciding moment, as a place among the words. */
  readonly candleWord: number;
  /** Takes how many lines are logged, and whether the strategy reads more than it was given. */
  readonly takeLog: () => void;
  readonly fail: (failure: string) => void;
}

/** A Python script that decides on many markets as its host sees it. Candles that have not closed are nowhere in its memory. */
export class PythonPortfolio implements PortfolioDoor {
  readonly #parts: PortfolioParts;
  readonly #machine: Machine;
  #markets = 0;
  /** Of the host, and where the interpreter has the same numbers. */
  #state = new Float64Array(0);
  #stateDouble = 0;
  #columns: readonly ShownColumns[] = [];
  readonly #books = new Map<number, Book>();
  /** Rows of its plots. */
  marks = 0;

  constructor(parts: PortfolioParts) {
    this.#parts = parts;
    this.#machine = parts.machine;
  }

  isCalled = (): boolean => this.#machine.ask(MACHINE.isPortfolio) !== null;
  warmup = (): number => Number(this.#machine.ask(MACHINE.warmup));
  every = (): string => this.#machine.ask(MACHINE.every) ?? "";
  state = (): ArrayBuffer => this.#state.buffer;
  requests = (market: number): string => this.#askOf(MACHINE.marketRequests, market);
  shown = (market: number): string => this.#askOf(MACHINE.marketShown, market);
  column = (market: number, n: number): ArrayBuffer => this.#columns[market]?.ahead(n) ?? new ArrayBuffer(0);
  book = (market: number): ArrayBuffer => this.#books.get(market)?.memory ?? new ArrayBuffer(0);
  tag = (): string => this.#machine.ask(MACHINE.tagOfTargets) ?? "";

  start = (parametersJson: string, timeframeMs: number, marketsJson: string, isTrial: boolean): string | null => {
    const { python } = this.#machine;
    const failure = this.#machine.ask(
      MACHINE.startPortfolio,
      python.text(parametersJson),
      python.double(timeframeMs),
      python.text(marketsJson),
      python.integer(Number(isTrial)),
    );
    if (failure !== null) return failure;
    const markets: unknown = JSON.parse(marketsJson);
    this.#markets = Array.isArray(markets) ? markets.length : 0;
    this.#state = new Float64Array(AT.head + this.#markets * (AT.market + 2));
    this.#stateDouble = this.#addressOf(MACHINE.state, this.#state.byteLength) >> 3;
    return null;
  };

  prepare = (rowsJson: string, bits: number, inputsJson: string, marks: number): string | null => {
    const { python } = this.#machine;
    this.marks = marks;
    const failure = this.#machine.ask(
      MACHINE.preparePortfolio,
      python.text(rowsJson),
      python.integer(bits),
      python.text(inputsJson),
      python.integer(marks),
    );
    this.#parts.takeLog();
    if (failure !== null) return failure;
    const rows: unknown = JSON.parse(rowsJson);
    this.#columns = Array.from({ length: this.#markets }, (_, market) => {
      const shown = parse(this.shown(market), REQUESTS_CHARS_MAX);
      const views = this.#machine.make(MACHINE.marketViews, python.integer(market));
      if (views === 0) throw brokenRealm("it shows no columns");
      const capacity: unknown = Array.isArray(rows) ? rows[market] : null;
      return new ShownColumns(python, views, Array.isArray(shown) ? shown.length : 0, Number(capacity));
    });
    return null;
  };

  decide = (now: number, row: number): number => {
    const { python } = this.#machine;
    if (this.#machine.isBroken) throw brokenRealm("it cannot go on");
    const { doubles, words } = python;
    doubles.set(this.#state, this.#stateDouble);
    for (const [market, columns] of this.#columns.entries()) {
      columns.showUntil(this.#state[AT.head + market * AT.market + AT.i]!);
    }
    for (const { shared } of this.#books.values()) shared.give();
    words[this.#parts.candleWord] = row;
    const failure = this.#machine.ask(MACHINE.decidePortfolio, python.double(now));
    this.#parts.takeLog();
    if (failure !== null) {
      this.#parts.fail(failure);
      return -1;
    }
    this.#state.set(doubles.subarray(this.#stateDouble, this.#stateDouble + this.#state.length));
    this.#takeBooks();
    return 0;
  };

  #takeBooks(): void {
    const touched = this.#state[AT.touched]!;
    if (!isWhole(touched, this.#markets)) throw brokenRealm("its orders are none");
    const first = AT.head + this.#markets * (AT.market + 1);
    for (let n = 0; n < touched; n++) {
      const market = this.#state[first + n]!;
      if (!isWhole(market, this.#markets - 1)) throw brokenRealm("it orders in no market");
      let book = this.#books.get(market);
      if (book === undefined) this.#books.set(market, book = this.#openBook(market));
      book.shared.takeOrders();
    }
  }

  #openBook(market: number): Book {
    const { python } = this.#machine;
    const memory = new ArrayBuffer(MEMORY_BYTES);
    const tables = this.#addressOf(MACHINE.book, MEMORY_BYTES, python.integer(market));
    return { memory, shared: new SharedTables(python, tables, memory) };
  }

  /** The address of a buffer that a function of the machine returns, and that the machine keeps. */
  #addressOf(place: number, bytes: number, ...args: readonly number[]): number {
    const made = this.#machine.make(place, ...args);
    const address = made === 0 ? 0 : this.#machine.python.addressOf(made, bytes);
    if (address === 0 || address % 8 !== 0) throw brokenRealm("its tables are none");
    return address;
  }

  #askOf(place: number, market: number): string {
    return this.#machine.ask(place, this.#machine.python.integer(market)) ?? "";
  }
}
