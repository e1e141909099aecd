/**
 * The inside of a script's realm. `realm_text.ts` has these functions evaluated there as text: they use each other, their arguments
 * and the language, and nothing else of ours. A script may take them over; the host believes nothing that comes out of a realm.
 */
import type { Series } from "../../candle_series.ts";
import type { Layout } from "../../contracts/layout.ts";
import { crossesAbove, makeColumns } from "./columns.ts";
import { type Definition, makeDecide, makeScore } from "./deciding.ts";
import { clearMemory, makeMemory, makeSeries, type Memory, setGuard } from "./memory.ts";
import { makeOrders } from "./orders.ts";
import { keepStacks, makeLog, makePlots } from "./output.ts";
import { callFactory, describeParameters, findMissing } from "./parameters.ts";
import type { Guard } from "./peeks.ts";
import { makePortfolio, type PortfolioDoor } from "./portfolio.ts";
import { makeFills, readListeners } from "./trades.ts";
import { isCallable, makeUtc, refusePromise, share, takeAway } from "./world.ts";
import { watchRealm } from "./watch.ts";

/** The functions of a realm that the host calls. Numbers, texts and buffers cross, and nothing else. */
export interface Door {
  /** An error's message and the lines of the script that led to it. */
  readonly describe: (error: unknown) => string;
  /** Creates the strategy with its parameters and its Series. Returns the description of an error; null: there was none. */
  readonly start: (parametersJson: string, timeframeMs: number, firstIndex: number) => string | null;
  /** Gives the strategy another range, if it has not read where its own begins. Absent: it cannot have another. */
  readonly move?: (firstIndex: number) => void;
  /** Candles before the first decision. */
  readonly warmup: () => number;
  /** The memory of the state and the tables (layout.ts). */
  readonly memory: () => ArrayBuffer;
  /** The memory of the windows: the next rows of each shown column. */
  readonly windows: () => ArrayBuffer;
  /** The memory of a word that counts the candles of the range that the script has decided on. */
  readonly decided: () => SharedArrayBuffer;
  /** Gives the script that memory by a name, for its marks. */
  readonly showPlaces: (name: string) => void;
  /**
   * Calls the strategy's `prepare` for columns of `rows` rows. Returns as `start`.
   *
   * @param bits What the script reads (reads.ts).
   * @param inputsJson Names of the run's inputs, as JSON of string[]; "null": any name finds one.
   */
  readonly prepare: (rows: number, bits: number, inputsJson: string) => string | null;
  /** The columns that `prepare` has asked for, as JSON of Request[]. */
  readonly requests: () => string;
  /** Numbers of the shown columns, in the order of their windows from 1, as JSON of number[]. */
  readonly shown: () => string;
  /** The memory of the n-th of them. */
  readonly column: (n: number) => ArrayBuffer;
  /**
   * Shows the candles from `i` on and before `until`, and calls the strategy's `decide` for each, up to the first with orders, an
   * error, a wish or lines for the log. Returns the candle of orders and errors, which the state has; else the next one to decide on.
   */
  readonly decide: (i: number, until: number) => number;
  /** True if the strategy says how good an entry would be. */
  readonly hasScore: () => boolean;
  /** Shows candle `i`, and calls the strategy's `score`: NaN with -1 rows after an error, which `failure` describes. */
  readonly score: (i: number) => number;
  /** Takes the first rows of the table of fills: the next `decide` tells the script of them. */
  readonly takeFills: (count: number) => void;
  /** Places at which the script has read candles that have not closed, as JSON of string[]. */
  readonly peeks: () => string;
  /** Members that it has read and its objects do not have, with their places, as JSON of string[]. Absent: its language refuses them. */
  readonly unknown?: () => string;
  /** The parameters that the script reads, as JSON of a parameter_schema; "null": it may read others. Absent: its language declares them. */
  readonly schema?: () => string | null;
  readonly failure: () => string;
  /** The n-th line of the log; the state has their number. */
  readonly line: (n: number) => string;
  /** The series that are plotted, by their number. */
  readonly plotsCount: () => number;
  readonly plotName: (n: number) => string;
  /** The pane that the script chose for it, empty: none; and its memory. */
  readonly pane: (n: number) => unknown;
  readonly plot: (number: number) => ArrayBuffer;
  /** For a strategy that decides on many markets; absent: its language has none. */
  readonly portfolio?: PortfolioDoor;
}

type Factory = Parameters<typeof callFactory>[0];

/** A realm for scripts of one author, one after the other. */
export interface LastingDoor {
  /**
   * Opens it for the next script; null: the one before left something behind.
   *
   * @param isLast No other follows it: nothing needs to take the place of its globals. The first one cannot be the last.
   */
  readonly begin: (isLast: boolean) => Door | null;
}

/** Sets a realm up for one script. */
export function openRealm(layout: Layout): Door {
  const describe = keepStacks(layout);
  const { door, globals } = makeDoor(layout, { describe, utc: makeUtc(), memory: makeMemory(layout) });
  takeAway();
  share(globals, false);
  return door;
}

/** Sets a realm up for scripts one after the other: each begins in it as if it was the first. */
export function openLastingRealm(layout: Layout): LastingDoor {
  const kept = { describe: keepStacks(layout), utc: makeUtc(), memory: makeMemory(layout) };
  const begin = (isLast: boolean): Door => {
    clearMemory(kept.memory);
    const { door, globals } = makeDoor(layout, kept);
    share(globals, !isLast);
    // The language keeps the last match of a text.
    /(?:)/.exec("");
    return door;
  };
  takeAway();
  let next: Door | null = begin(false);
  const isClean = watchRealm(Object.keys(makeDoor(layout, kept).globals), [crossesAbove, kept.utc]);
  return {
    begin(isLast) {
      const door = next ?? (isClean() ? begin(isLast) : null);
      next = null;
      return door;
    },
  };
}

/** Makes what one script finds, and the functions that the host calls for it. */
export function makeDoor(
  layout: Layout,
  { describe, utc, memory }: {
    readonly describe: (error: unknown) => string;
    readonly utc: (time: number) => object;
    readonly memory: Memory;
  },
): { readonly door: Door; readonly globals: Readonly<Record<string, unknown>> } {
  // Before the first line of a script, which may replace these.
  const { parse, stringify } = JSON;
  const log = makeLog(layout, memory);
  const columns = makeColumns(layout, memory);
  const writer = makeOrders(layout, memory, columns.candles);
  const fills = makeFills(layout, memory);
  const attempt = (act: () => void): string | null => {
    try {
      act();
      return null;
    } catch (error) {
      return describe(error);
    }
  };
  let failure = "";
  const fail = (error: unknown) => void (failure = describe(error));
  const { door: portfolio, ...many } = makePortfolio({ layout, memory, fills, attempt, fail });
  const program = makeProgram(layout, portfolio.isCalled);
  const capacity = () => portfolio.isCalled() ? many.marks() : columns.capacity();
  const plots = makePlots(layout, { memory, columns: { capacity }, log: log.console.log });
  const globals = {
    ...columns.globals,
    ...many.route(columns),
    ...{ strategy: program.strategy, portfolio: many.portfolio, plot: plots.plot, console: log.console, utc },
  };
  const door: Door = {
    describe,
    portfolio,
    start(parametersJson, timeframeMs, firstIndex) {
      memory.firstIndex = firstIndex;
      return attempt(() => program.create(parse(parametersJson), makeSeries(layout, memory, timeframeMs)));
    },
    move(firstIndex) {
      memory.firstIndex = firstIndex;
    },
    warmup: () => program.definition().warmup,
    memory: () => memory.buffer,
    windows: () => memory.windowsBuffer,
    decided: () => memory.decidedBuffer,
    showPlaces: (name) => share({ [name]: memory.decided }, false),
    prepare: (rows, bits, inputsJson) =>
      attempt(() => {
        memory.listBits = bits >>> layout.candleColumns.length;
        setGuard(layout, memory, bits);
        columns.open(rows, bits, parse(inputsJson));
        if (memory.guard !== null) program.watch(memory.guard);
        prepare(program.definition(), memory.guard?.show(columns.candles, "candles") ?? columns.candles);
        columns.close();
        fills.expect(program.definition());
      }),
    requests: () => stringify(columns.requests),
    shown: () => stringify(columns.shown()),
    column: columns.buffer,
    decide: makeDecide(layout, memory, { columns, writer, fills, definition: program.definition }, fail),
    hasScore: () => program.definition().score !== null,
    score: makeScore(layout, memory, { columns, definition: program.definition }, fail),
    takeFills: fills.take,
    peeks: () => stringify(memory.peeks),
    unknown: () => stringify([...memory.unknown, ...memory.guard?.unset() ?? []]),
    schema: () => stringify(portfolio.isCalled() ? many.describe() : program.describe()),
    failure: () => failure,
    line: (n) => log.lines[n]!,
    plotsCount: () => plots.names.length,
    plotName: (n) => plots.names[n]!,
    pane: (n) => plots.panes[n],
    plot: (number) => plots.buffers[number]!,
  };
  return { door, globals };
}

/** The global `strategy`, and what the script passed to it. */
export function makeProgram(layout: Layout, isPortfolio: () => boolean) {
  let factory: Factory | null = null;
  let definition: Definition | null = null;
  let describe = (): object | null => null;
  return {
    /** The parameters that it reads; null: it may read others. */
    describe: () => describe(),
    strategy(make: Factory): void {
      if (typeof make !== "function") throw new TypeError("strategy takes a function of the parameters");
      if (factory !== null) throw new Error("strategy is called twice: a script is one strategy");
      factory = make;
    },
    create(parameters: unknown, series: Series): void {
      if (isPortfolio()) throw new Error("portfolio decides on many markets: the run needs instruments or a universe");
      const make = factory;
      if (make === null) throw new Error("the script never calls strategy(...)");
      const made = callFactory(make, Object(parameters), series);
      definition = readDefinition(made, layout, () => findMissing(make, parameters, series));
      describe = () => describeParameters(make, Object(parameters), series);
    },
    definition(): Definition {
      if (definition === null) throw new Error("the strategy is not created");
      return definition;
    },
    /** Notices what it reads of its own and never sets. */
    watch(guard: Guard): void {
      if (definition !== null) definition = { ...definition, self: guard.showSelf(definition.self) };
    },
  };
}

/** @param missing Says what a warm-up that is no number was computed without. */
export function readDefinition(made: unknown, layout: Layout, missing: () => string): Definition {
  if (typeof made !== "object" || made === null) {
    throw new TypeError(`the function that strategy takes must return an object with decide, not ${typeof made}`);
  }
  const { warmup = 1, prepare = null, decide, onFill, onClose, score, ...rest }: Record<string, unknown> = { ...made };
  const misspelt = Object.keys(rest).find((key) =>
    /^(warm.?up|prep.*|deci.*|on_?(candle|bar|fill.*|order|trade|close.*)|init)$/i.test(key)
  );
  if (misspelt !== undefined) {
    throw new TypeError(`${misspelt} is not known: use warmup, prepare, decide, onFill and onClose`);
  }
  if (typeof warmup !== "number" || !Number.isInteger(warmup) || warmup < 1 || warmup > layout.warmupMax) {
    const without = Number.isNaN(warmup) ? missing() : "";
    throw new RangeError(
      `warmup must be a whole number of candles from 1 to ${layout.warmupMax}, not ${warmup}${without}`,
    );
  }
  if (!isCallable(decide)) throw new TypeError("the strategy has no function decide");
  if (prepare !== null && !isCallable(prepare)) throw new TypeError("prepare must be a function");
  const listeners = readListeners({ onFill, onClose });
  // It may be a name for something else: a strategy without it has no score.
  return { warmup, self: made, prepare, decide, ...listeners, score: isCallable(score) ? score : null };
}

export function prepare({ prepare, self }: Definition, candles: object): void {
  if (prepare !== null) refusePromise("prepare", prepare.call(self, candles));
}
