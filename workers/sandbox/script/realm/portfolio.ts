/** The inside of the realm of a script that decides on many markets at once. */
import type { Layout } from "../../contracts/layout.ts";
import { type Columns, makeColumns } from "./columns.ts";
import { makeBooks, makeFinder, makeTargets } from "./market_orders.ts";
import { type Memory, setGuard } from "./memory.ts";
import { callFactory, describeParameters } from "./parameters.ts";
import type { Guard } from "./peeks.ts";
import { type Listeners, type makeFills, readListeners } from "./trades.ts";
import { isCallable, nameValue, refusePromise } from "./world.ts";

/** The functions of a realm with a strategy for many markets that the host calls. */
export interface PortfolioDoor {
  /** True if the script has called `portfolio`. */
  readonly isCalled: () => boolean;
  /** Creates the strategy. Returns as Door.start. @param marketsJson `[[id, symbol, exchange], ...]`. @param isTrial Any name finds a market. */
  readonly start: (parametersJson: string, timeframeMs: number, marketsJson: string, isTrial: boolean) => string | null;
  readonly warmup: () => number;
  /** The name of its period; empty: it is asked at each mark. */
  readonly every: () => string;
  /** The numbers of the account, the markets and the last decision (layout.ts, PORTFOLIO). */
  readonly state: () => ArrayBuffer;
  /** Calls `prepare`. Returns as Door.prepare. @param rowsJson Rows of each market's columns. @param marks Of the run's. */
  readonly prepare: (rowsJson: string, bits: number, inputsJson: string, marks: number) => string | null;
  /** Like Door's, for a market. */
  readonly requests: (market: number) => string;
  readonly shown: (market: number) => string;
  readonly column: (market: number, n: number) => ArrayBuffer;
  /** The memory of a market's orders; an empty one: it has none. */
  readonly book: (market: number) => ArrayBuffer;
  /** The tag of the last targets; empty: none. */
  readonly tag: () => string;
  /** Decides at a moment. Returns 0, or -1 after an error. @param row Of the mark. */
  readonly decide: (now: number, row: number) => number;
}

interface PortfolioDefinition extends Listeners {
  readonly warmup: number;
  readonly every: string;
  readonly self: object;
  readonly prepare: ((markets: object) => unknown) | null;
  readonly decide: (now: number, markets: object, account: object, orders: object) => unknown;
}

type PortfolioFactory = Parameters<typeof callFactory>[0];

/** The parts of its realm that a strategy of many markets uses. */
interface PortfolioParts {
  readonly layout: Layout;
  /** Of the realm: its log, its plots and its wishes. */
  readonly memory: Memory;
  readonly fills: ReturnType<typeof makeFills>;
  readonly attempt: (act: () => void) => string | null;
  readonly fail: (error: unknown) => void;
}

/** The global `portfolio`, the door to what it was given, and the indicators of all markets. */
export function makePortfolio({ layout, memory, fills, attempt, fail }: PortfolioParts) {
  const { parse, stringify } = JSON;
  let factory: PortfolioFactory | null = null;
  let definition: PortfolioDefinition | null = null;
  let markets: MadeMarkets | null = null;
  let marks = 0;
  let describe = (): object | null => null;
  const made = (): MadeMarkets => {
    if (markets === null) throw new Error("there are no markets");
    return markets;
  };
  const defined = (): PortfolioDefinition => {
    if (definition === null) throw new Error("the strategy is not created");
    return definition;
  };
  const door: PortfolioDoor = {
    isCalled: () => factory !== null,
    start: (parametersJson, timeframeMs, marketsJson, isTrial) =>
      attempt(() => {
        const make = factory;
        if (make === null) throw new Error("the script never calls portfolio(...)");
        markets = makeMarkets({ layout, memory, fills }, parse(marketsJson), isTrial);
        const [parameters, series] = [parse(parametersJson), Object.freeze({ timeframeMs })];
        definition = readPortfolio(callFactory(make, parameters, series), layout);
        describe = () => describeParameters(make, parameters, series);
      }),
    warmup: () => defined().warmup,
    every: () => defined().every,
    state: () => made().state.buffer,
    prepare: (rowsJson, bits, inputsJson, count) =>
      attempt(() => {
        marks = count;
        memory.listBits = bits >>> layout.candleColumns.length;
        setGuard(layout, memory, bits);
        if (memory.guard !== null) {
          markets = { ...made(), ...made().guarded(memory.guard) };
          definition = { ...defined(), self: memory.guard.showSelf(defined().self) };
        }
        const { columns, list } = made();
        const rows: number[] = parse(rowsJson);
        const inputs: string[] | null = parse(inputsJson);
        for (let n = 0; n < columns.length; n++) columns[n]!.open(rows[n]!, bits, inputs);
        const { prepare, self } = defined();
        if (prepare !== null) refusePromise("prepare", prepare.call(self, list));
        for (const each of columns) each.close();
        fills.expect(defined());
      }),
    requests: (market) => stringify(made().columns[market]!.requests),
    shown: (market) => stringify(made().columns[market]!.shown()),
    column: (market, n) => made().columns[market]!.buffer(n),
    book: (market) => made().book(market),
    tag: () => made().tag(),
    decide(now, row) {
      try {
        memory.i = row;
        const { begin, end, list, account, orders } = made();
        begin();
        const strategy = defined();
        const { decide, self } = strategy;
        if (fills.areWaiting()) fills.report(self, strategy);
        const answer = decide.call(self, now, list, account, orders);
        if (typeof answer === "object") refusePromise("decide", answer);
        end();
        return 0;
      } catch (error) {
        fail(error);
        markets?.end();
        return -1;
      }
    },
  };
  return {
    door,
    portfolio(make: PortfolioFactory): void {
      if (typeof make !== "function") throw new TypeError("portfolio takes a function of the parameters");
      if (factory !== null) throw new Error("portfolio is called twice: a script is one strategy");
      factory = make;
    },
    /** The parameters that it reads; null: it may read others. */
    describe: () => describe(),
    /** Rows of the run's plots. */
    marks: () => marks,
    /** Indicators that take the columns of any market, and `resample`, which takes a market. @param own Of a strategy for one. */
    route(own: Columns): Readonly<Record<string, (...args: readonly unknown[]) => unknown>> {
      const columnsOf = (column: unknown): Columns =>
        markets === null ? own : markets.columns.find((each) => each.owns(column)) ?? markets.columns[0] ?? own;
      const resample = (...[candles, ...rest]: readonly unknown[]) => {
        if (markets === null) return own.globals["resample"]!(candles, ...rest);
        const { columns, list } = markets;
        const its = columns[list.findIndex((market) => market === candles)];
        if (its === undefined) throw new TypeError("resample takes a market that prepare is given, and a timeframe");
        return its.globals["resample"]!(its.candles, ...rest);
      };
      return Object.fromEntries([
        ...layout.indicators.map(({ name }) =>
          [name, (...args: readonly unknown[]) => columnsOf(args[0]).globals[name]!(...args)] as const
        ),
        ["resample", resample],
      ]);
    },
  };
}

/** The markets of a run as a script sees them, and its orders. */
interface MadeMarkets {
  readonly list: readonly object[];
  readonly account: object;
  readonly orders: object;
  readonly columns: readonly Columns[];
  readonly state: Float64Array<ArrayBuffer>;
  readonly book: (market: number) => ArrayBuffer;
  readonly tag: () => string;
  /** The same, so that reads of members which are not there are noticed. */
  readonly guarded: (guard: Guard) => Pick<MadeMarkets, "list" | "account" | "orders">;
  /** Begins a decision, and ends it. */
  readonly begin: () => void;
  readonly end: () => void;
}

export function makeMarkets(
  { layout, memory, fills }: Pick<PortfolioParts, "layout" | "memory" | "fills">,
  names: readonly (readonly [id: string, symbol: string, exchange: string])[],
  isTrial: boolean,
): MadeMarkets {
  const { portfolio: at } = layout;
  const count = names.length;
  // Read by index alone, as all memory is that the host writes.
  const state = new Float64Array(at.head + count * (at.market + 2));
  // The state has no candle before the first decision.
  const newest = (market: number) => memory.i < 0 ? -1 : state[at.head + market * at.market + at.i]!;
  const columns = names.map((_, market) => makeColumns(layout, memory, () => newest(market)));
  const list = names.map(([id, symbol, exchange], index) => {
    const base = at.head + index * at.market;
    const market = {
      ...{ index, id, symbol, exchange },
      get i() {
        return state[base + at.i]!;
      },
      get hasClosed() {
        return state[base + at.hasClosed] === 1;
      },
      get isMember() {
        return state[base + at.isMember] === 1;
      },
      get quantity() {
        return state[base + at.quantity]!;
      },
      get entryPrice() {
        return state[base + at.entryPrice]!;
      },
      get weight() {
        return state[base + at.weight]!;
      },
    };
    for (const name of layout.candleColumns) {
      Object.defineProperty(market, name, { enumerable: true, get: () => columns[index]!.candles[name] });
    }
    Object.defineProperty(market, "inputs", { get: () => columns[index]!.candles.inputs });
    return Object.freeze(market);
  });
  const find = makeFinder(names, isTrial);
  Object.defineProperty(list, "of", { value: (name: unknown) => list[find(name)] });
  const account = {
    get cash() {
      return state[at.cash]!;
    },
    get equity() {
      return state[at.equity]!;
    },
    get initialBalance() {
      return state[at.initialBalance]!;
    },
  };
  Object.defineProperty(account, "closedTrades", { get: fills.closedTrades });
  fills.nameMarkets(names.map(([id]) => id));
  const targets = makeTargets(layout, state, names, find);
  const books = makeBooks(layout, memory, state, count);
  const bookOf = (name: unknown) => books.of(find(name), names);
  const orders = Object.freeze({ target: targets.target, of: bookOf });
  const guarded = (guard: Guard) => {
    const shown = list.map((market) => guard.show(market, "market"));
    Object.defineProperty(shown, "of", { value: (name: unknown) => shown[find(name)] });
    const books = { ...orders, of: (name: unknown) => guard.show(bookOf(name), "orders.of()") };
    return { list: shown, account: guard.show(account, "account"), orders: guard.show(books, "orders") };
  };
  return {
    ...{ list: Object.freeze(list), account: Object.freeze(account), orders, columns, state, guarded },
    ...{ book: books.memory, tag: targets.tag },
    begin() {
      targets.begin();
      books.begin();
    },
    end: books.end,
  };
}

export function readPortfolio(made: unknown, layout: Layout): PortfolioDefinition {
  if (typeof made !== "object" || made === null) {
    throw new TypeError(`the function that portfolio takes must return an object with decide, not ${typeof made}`);
  }
  const { warmup = 1, every = null, prepare = null, decide, onFill, onClose, ...rest }: Record<string, unknown> = {
    ...made,
  };
  const misspelt = Object.keys(rest).find((key) =>
    /^(warm.?up|prep.*|deci.*|on_?(candle|fill.*|close.*)|init|period)$/i.test(key)
  );
  if (misspelt !== undefined) {
    throw new TypeError(`${nameValue(misspelt)} is not known: use warmup, every, prepare, decide, onFill and onClose`);
  }
  if (typeof warmup !== "number" || !Number.isInteger(warmup) || warmup < 1 || warmup > layout.warmupMax) {
    throw new RangeError(
      `warmup must be a whole number of candles from 1 to ${layout.warmupMax}, not ${nameValue(warmup)}`,
    );
  }
  const period = every === null ? "" : layout.portfolio.periods.find((name) => name === every);
  if (period === undefined) {
    throw new RangeError(
      `every must be one of ${layout.portfolio.periods.join(", ")}, or null, not ${nameValue(every)}`,
    );
  }
  if (!isCallable(decide)) throw new TypeError("the strategy has no function decide");
  if (prepare !== null && !isCallable(prepare)) throw new TypeError("prepare must be a function");
  return { warmup, every: period, self: made, prepare, decide, ...readListeners({ onFill, onClose }) };
}
