/**
 * The inside of a script's realm. `realm_text.ts` has these functions evaluated there as text: they use each other, their arguments
 * and the language, and nothing else of ours. A script may take them over; the host believes nothing that comes out of a realm.
 */
import type { Series } from "../../candle_series.ts";
import type { Layout } from "../layout.ts";
import { type Columns, makeColumns } from "./columns.ts";
import type { Memory } from "./memory.ts";
import { makeOrders, type OrderWriter } from "./orders.ts";
import { keepStacks, makeLog, makePlots } from "./output.ts";
import { makeUtc, share, takeAway } from "./world.ts";

/** The functions of a realm that the host calls. Numbers, texts and buffers cross, and nothing else. */
export interface Door {
  /** An error's message and the lines of the script that led to it. */
  readonly describe: (error: unknown) => string;
  /** Creates the strategy with its parameters and its Series. Returns the description of an error; null: there was none. */
  readonly start: (parametersJson: string, timeframeMs: number, firstIndex: number) => string | null;
  /** Candles before the first decision. */
  readonly warmup: () => number;
  /** Makes the memory that both sides share. */
  readonly allocate: (byteLength: number) => ArrayBuffer;
  /** Calls the strategy's `prepare`. Returns as `start`. */
  readonly prepare: () => string | null;
  /** The columns that `prepare` has asked for, as JSON of Request[]. */
  readonly requests: () => string;
  /** The memory of a requested column. */
  readonly column: (number: number) => ArrayBuffer;
  /** Calls the strategy's `decide` for the newest candle. Returns the rows of the order table; -1 after an error. */
  readonly decide: () => number;
  /** The error of `decide`, as `describe` has it. */
  readonly failure: () => string;
  /** Logged lines from this one on, as JSON of string[]. */
  readonly log: (from: number) => string;
  /** Names of the plotted series, as JSON of string[]. */
  readonly plots: () => string;
  /** The panes that the script chose for them, as JSON of string[]; empty: none chosen. */
  readonly panes: () => string;
  /** The memory of a series. */
  readonly plot: (number: number) => ArrayBuffer;
}

interface Definition {
  readonly warmup: number;
  readonly self: object;
  readonly prepare: ((candles: object) => unknown) | null;
  readonly decide: (i: number, candles: object, account: object, orders: object) => unknown;
}

type Factory = (parameters: unknown, series: Series) => unknown;

/** Sets a realm up: takes away what a strategy may not have, and adds the globals of scripts. */
export function openRealm(layout: Layout): Door {
  const describe = keepStacks(layout);
  const memory: Memory = { words: new Int32Array(0), doubles: new Float64Array(0), i: -1 };
  const log = makeLog(layout, memory);
  const columns = makeColumns(layout, memory);
  const plots = makePlots(layout, { memory, columns, log: log.console.log });
  const writer = makeOrders(layout, memory);
  const program = makeProgram(layout);
  const utc = makeUtc();
  takeAway();
  share({ ...columns.globals, strategy: program.strategy, plot: plots.plot, console: log.console, utc });
  const attempt = (act: () => void): string | null => {
    try {
      act();
      return null;
    } catch (error) {
      return describe(error);
    }
  };
  let failure = "";
  return {
    describe,
    start: (parametersJson, timeframeMs, firstIndex) =>
      attempt(() => program.create(JSON.parse(parametersJson), Object.freeze({ timeframeMs, firstIndex }))),
    warmup: () => program.definition().warmup,
    allocate(byteLength) {
      const buffer = new ArrayBuffer(byteLength);
      memory.words = new Int32Array(buffer);
      memory.doubles = new Float64Array(buffer);
      return buffer;
    },
    prepare: () => attempt(() => prepare(program.definition(), columns)),
    requests: () => JSON.stringify(columns.requests),
    column: (number) => columns.buffers[number]!,
    decide: makeDecide(layout, memory, { columns, writer, definition: program.definition }, (error) => {
      failure = describe(error);
    }),
    failure: () => failure,
    log: (from) => JSON.stringify(log.lines.slice(from)),
    plots: () => JSON.stringify(plots.names),
    panes: () => JSON.stringify(plots.panes),
    plot: (number) => plots.buffers[number]!,
  };
}

/** The global `strategy`, and what the script passed to it. */
export function makeProgram(layout: Layout) {
  let factory: Factory | null = null;
  let definition: Definition | null = null;
  return {
    strategy(make: Factory): void {
      if (typeof make !== "function") throw new TypeError("strategy takes a function of the parameters");
      if (factory !== null) throw new Error("strategy is called twice: a script is one strategy");
      factory = make;
    },
    create(parameters: unknown, series: Series): void {
      if (factory === null) throw new Error("the script never calls strategy(...)");
      definition = readDefinition(factory(parameters, series), layout);
    },
    definition(): Definition {
      if (definition === null) throw new Error("the strategy is not created");
      return definition;
    },
  };
}

export function readDefinition(made: unknown, layout: Layout): Definition {
  if (typeof made !== "object" || made === null) {
    throw new TypeError(`the function that strategy takes must return an object with decide, not ${typeof made}`);
  }
  const { warmup = 1, prepare = null, decide, ...rest }: Record<string, unknown> = { ...made };
  const misspelt = Object.keys(rest).find((key) => /^(warm.?up|prep.*|deci.*|on_?candle|init)$/i.test(key));
  if (misspelt !== undefined) throw new TypeError(`${misspelt} is not known: use warmup, prepare and decide`);
  if (typeof warmup !== "number" || !Number.isInteger(warmup) || warmup < 1 || warmup > layout.warmupMax) {
    throw new RangeError(`warmup must be a whole number of candles from 1 to ${layout.warmupMax}, not ${warmup}`);
  }
  if (!isCallable(decide)) throw new TypeError("the strategy has no function decide");
  if (prepare !== null && !isCallable(prepare)) throw new TypeError("prepare must be a function");
  return { warmup, self: made, prepare, decide };
}

export function isCallable(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

export function prepare({ prepare, self }: Definition, columns: Columns): void {
  columns.open();
  if (prepare !== null) refusePromise("prepare", prepare.call(self, columns.candles));
  columns.close();
}

export function refusePromise(name: string, answer: unknown): void {
  if (typeof answer !== "object" || answer === null || !("then" in answer)) return;
  throw new TypeError(`${name} must not be async: nothing waits within a candle`);
}

/** The call of a decision: refreshes the account, calls `decide`, and counts the orders. */
export function makeDecide(
  { frame: at }: Layout,
  memory: Memory,
  parts: { readonly columns: Columns; readonly writer: OrderWriter; readonly definition: () => Definition },
  fail: (error: unknown) => void,
): Door["decide"] {
  const account = { cash: 0, equity: 0, quantity: 0, entryPrice: NaN, initialBalance: 0 };
  const { columns: { candles }, writer } = parts;
  const { orders } = writer;
  let definition: Definition | null = null;
  return () => {
    try {
      definition ??= parts.definition();
      const { words, doubles } = memory;
      const i = words[(at.count) >>> 2]! - 1;
      memory.i = i;
      account.cash = doubles[(at.cash) >>> 3]!;
      account.equity = doubles[(at.equity) >>> 3]!;
      account.quantity = doubles[(at.quantity) >>> 3]!;
      account.entryPrice = account.quantity === 0 ? NaN : doubles[(at.entryPrice) >>> 3]!;
      account.initialBalance = doubles[(at.initialBalance) >>> 3]!;
      writer.begin();
      const answer = definition.decide.call(definition.self, i, candles, account, orders);
      if (typeof answer === "object") refusePromise("decide", answer);
      return writer.rows();
    } catch (error) {
      fail(error);
      return -1;
    }
  };
}
