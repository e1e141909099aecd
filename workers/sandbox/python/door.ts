import { LINE_CHARS_MAX } from "../contracts/log_bounds.ts";
import type { Door } from "../script/realm/realm.ts";
import { brokenRealm, parse } from "../script/realm_answers.ts";
import { MEMORY_BYTES, PLOTS_MAX, REQUESTS_CHARS_MAX, STATE, WINDOW_ROWS, WINDOWS_MAX } from "../contracts/layout.ts";
import { RunError } from "../../common/outcome.ts";
import { ClosedDoorError, type Interpreter } from "./interpreter.ts";
import { SharedTables } from "./shared_tables.ts";
import { ShownColumns } from "./shown_columns.ts";

/** Places in MACHINE (inside/machine.py). */
const MACHINE = {
  compileText: 0,
  start: 1,
  warmup: 2,
  prepare: 3,
  requests: 4,
  shown: 5,
  decider: 6,
  checkAnswer: 7,
  describe: 8,
  line: 9,
  plots: 10,
  plot: 11,
  schema: 12,
  takeAccount: 13,
  views: 14,
  tables: 15,
  equity: 16,
  candle: 17,
  another: 18,
  takeFills: 19,
  reportFills: 20,
} as const;

/** Of a text. Requests and errors are shorter. */
const ANSWER_BYTES_MAX = 2 ** 20;
/** A call may use the place before its arguments. */
const ARGUMENTS_OFFSET = 1 << 31;
const ARGUMENTS = 4 | ARGUMENTS_OFFSET;
const MASK = WINDOW_ROWS - 1;
const NO_ROOM = "Cannot start: the interpreter has no room for another market";

/** The plots and the parameters of a script whose memory is another's. */
interface EndedScript {
  readonly schema: string | null;
  readonly names: readonly string[];
  readonly panes: readonly string[];
  readonly series: readonly ArrayBuffer[];
}

/**
 * A Python script as its host sees it. The memory of the host's side is JavaScript's; what a decision reads and writes of it is copied
 * into the interpreter and out, so candles that have not closed yet are nowhere in Python's memory.
 */
export class PythonDoor implements Door {
  readonly #python: Interpreter;
  readonly #machine: number;
  readonly #memory = new ArrayBuffer(MEMORY_BYTES);
  readonly #words = new Int32Array(this.#memory);
  readonly #doubles = new Float64Array(this.#memory);
  readonly #windowsBuffer = new ArrayBuffer(WINDOWS_MAX * WINDOW_ROWS * 8);
  readonly #windows = new Float64Array(this.#windowsBuffer);
  readonly #decidedBuffer = new SharedArrayBuffer(4);
  readonly #decided = new Int32Array(this.#decidedBuffer);
  /** The interpreter's own tables, its word of the deciding candle and its equity. */
  readonly #tables: number;
  readonly #shared: SharedTables;
  readonly #candleWord: number;
  readonly #equityDouble: number;
  readonly #arguments: number;
  readonly #none: number;
  #columns: ShownColumns | null = null;
  #decide = 0;
  #firstIndex = 0;
  #failure = "";
  /** True if it has fills that the strategy was not told of. */
  #hasFills = false;
  /** True: the interpreter has ended, or was left in the middle of a call, so its memory is not consistent any more. */
  #isBroken = false;
  #ended: EndedScript | null = null;

  /** @param machine The address of its machine's functions; default: that of the interpreter's first. */
  constructor(python: Interpreter, machine = python.firstMachine) {
    this.#python = python;
    this.#machine = machine;
    const addressOf = (place: number, bytes: number) => python.addressOf(this.#function(place), bytes);
    this.#tables = addressOf(MACHINE.tables, MEMORY_BYTES);
    this.#shared = new SharedTables(python, this.#tables, this.#memory);
    this.#candleWord = addressOf(MACHINE.candle, 8) >> 2;
    this.#equityDouble = addressOf(MACHINE.equity, 8) >> 3;
    this.#arguments = python.allocate(4 * 5) >> 2;
    this.#none = python.none();
    python.words[this.#candleWord] = -1;
  }

  describe = (): string => this.#failure;
  memory = (): ArrayBuffer => this.#memory;
  windows = (): ArrayBuffer => this.#windowsBuffer;
  decided = (): SharedArrayBuffer => this.#decidedBuffer;
  failure = (): string => this.#failure;
  requests = (): string => this.#ask(MACHINE.requests) ?? "";
  shown = (): string => this.#ask(MACHINE.shown) ?? "";
  column = (n: number): ArrayBuffer => this.#columns?.ahead(n) ?? new ArrayBuffer(0);
  plotsCount = (): number => this.#listPlots("names").length;
  plotName = (n: number): string => this.#listPlots("names")[n] ?? "";
  pane = (n: number): string => this.#listPlots("panes")[n] ?? "";
  warmup = (): number => Number(this.#ask(MACHINE.warmup));
  /** The parameters that the strategy's class declares, as JSON of a parameter_schema; null: it has none. */
  schema = (): string | null => this.#ended === null ? this.#ask(MACHINE.schema) : this.#ended.schema;

  line = (n: number): string => {
    const line = parse(this.#ask(MACHINE.line, this.#python.integer(n)), ANSWER_BYTES_MAX);
    return String(line).slice(0, LINE_CHARS_MAX);
  };

  /** Compiles a text. Returns as `start`. */
  compile = (source: string): string | null => this.#ask(MACHINE.compileText, this.#python.text(source));

  /** Ends it: its memory is another's from now on. Its plots and its parameters stay. */
  end(): void {
    if (this.#isBroken) return;
    try {
      const names = this.#listPlots("names");
      const schema = this.schema();
      this.#ended = { schema, names, panes: this.#listPlots("panes"), series: names.map((_, n) => this.plot(n)) };
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
    }
    this.#isBroken = true;
  }

  /** A door to a machine of its own in the same interpreter, for another market of the run. */
  openAnother(): PythonDoor {
    const machine = this.#within(() => this.#python.call(this.#function(MACHINE.another)));
    if (machine === 0) throw new RunError("STRATEGY_OUT_OF_MEMORY", NO_ROOM);
    return new PythonDoor(this.#python, machine);
  }

  start = (parametersJson: string, timeframeMs: number, firstIndex: number): string | null => {
    this.#firstIndex = firstIndex;
    const python = this.#python;
    return this.#ask(
      MACHINE.start,
      python.text(parametersJson),
      python.double(timeframeMs),
      python.integer(firstIndex),
    );
  };

  prepare = (rows: number, bits: number, inputsJson: string): string | null => {
    const python = this.#python;
    const failure = this.#ask(MACHINE.prepare, python.integer(rows), python.integer(bits), python.text(inputsJson));
    this.#shared.takeLog();
    if (failure !== null) return failure;
    const shown = parse(this.shown(), REQUESTS_CHARS_MAX);
    this.#columns = new ShownColumns(
      python,
      this.#function(MACHINE.views),
      Array.isArray(shown) ? shown.length : 0,
      rows,
    );
    const decider = this.#within(() => python.call(this.#function(MACHINE.decider)));
    if (decider === 0) return this.#takeError();
    this.#decide = python.item(decider, 0);
    for (const n of [1, 2, 3]) python.words[this.#arguments + 1 + n] = python.item(decider, n);
    return null;
  };

  plot = (number: number): ArrayBuffer => {
    const kept = this.#ended?.series[number];
    if (kept !== undefined) return kept;
    const python = this.#python;
    const series = this.#within(() => python.call(this.#function(MACHINE.plot), python.integer(number)));
    const bytes = 8 * (this.#columns?.capacity ?? 0);
    const at = series === 0 ? 0 : python.addressOf(series, bytes);
    if (at === 0) throw brokenRealm("its plots are none");
    return python.heap.slice(at, at + bytes).buffer;
  };

  decide = (i: number, until: number): number => {
    const columns = this.#columns;
    if (columns === null || this.#isBroken) throw brokenRealm("it cannot go on");
    if (this.#shared.give()) this.#ask(MACHINE.takeAccount);
    try {
      return this.#decideUntil(columns, i, until);
    } catch (error) {
      throw this.#explain(error);
    }
  };

  takeFills = (count: number): void => {
    this.#shared.giveFills(count);
    const failure = this.#ask(MACHINE.takeFills, this.#python.integer(count));
    if (failure !== null) throw brokenRealm("it takes no fills");
    this.#hasFills = true;
  };

  #decideUntil(columns: ShownColumns, first: number, until: number): number {
    const python = this.#python;
    const { words, doubles } = python;
    const [windows, candle, equity, none, decide] = [
      this.#windows,
      this.#candleWord,
      this.#equityDouble,
      this.#none,
      this.#decide,
    ];
    const [own, indexWord, args] = [this.#tables >> 2, this.#arguments + 1, 4 * (this.#arguments + 1)];
    const [rows, wanted, loggedAt] = [own + STATE.rows / 4, own + STATE.wanted / 4, own + STATE.logged / 4];
    const cash = this.#doubles[STATE.cash / 8]!;
    const quantity = this.#doubles[STATE.quantity / 8]!;
    const logged = words[loggedAt];
    let i = first;
    for (;;) {
      columns.show(i, windows);
      words[candle] = i;
      doubles[equity] = cash + quantity * windows[i & MASK]!;
      if (this.#hasFills) {
        this.#hasFills = false;
        const failure = this.#ask(MACHINE.reportFills);
        if (failure !== null) return this.#fail(i, failure);
      }
      const index = words[indexWord] = python.integer(i);
      const answer = python.vectorcall(decide, args, ARGUMENTS);
      python.release(index);
      if (answer === 0) return this.#fail(i, this.#takeError());
      if (answer !== none) {
        const failure = this.#ask(MACHINE.checkAnswer, answer);
        if (failure !== null) return this.#fail(i, failure);
      }
      this.#decided[0] = i + 1 - this.#firstIndex;
      if (words[rows] !== 0) break;
      i++;
      if (i === until || words[wanted] !== 0 || words[loggedAt] !== logged) break;
    }
    this.#shared.takeLog();
    this.#shared.takeOrders();
    return i;
  }

  #fail(i: number, failure: string): number {
    this.#shared.takeLog();
    this.#words[STATE.rows / 4] = -1;
    this.#failure = failure;
    return i;
  }

  #function(place: number): number {
    return this.#python.item(this.#machine, place);
  }

  #listPlots(what: "names" | "panes"): readonly string[] {
    if (this.#ended !== null) return this.#ended[what];
    const lists = Object(parse(this.#ask(MACHINE.plots), ANSWER_BYTES_MAX));
    const list: unknown = Reflect.get(lists, what);
    return Array.isArray(list) ? list.slice(0, PLOTS_MAX + 1).map(String) : [];
  }

  /** The text that a function of the machine answers; null: None. The arguments are given up. */
  #ask(place: number, ...args: readonly number[]): string | null {
    const python = this.#python;
    const answer = this.#within(() => python.call(this.#function(place), ...args));
    for (const argument of args) python.release(argument);
    if (answer === 0) return this.#takeError();
    if (answer === this.#none) return null;
    const text = python.readText(answer, ANSWER_BYTES_MAX);
    python.release(answer);
    if (text === null) throw brokenRealm("its answers are none");
    return text;
  }

  /** The description of the error that a call ended with. */
  #takeError(): string {
    const python = this.#python;
    const error = python.takeError();
    const described = error === 0 ? 0 : this.#within(() => python.call(this.#function(MACHINE.describe), error));
    // It has no memory left to describe it in.
    return (described === 0 ? null : python.readText(described, ANSWER_BYTES_MAX)) ?? '{"message":"MemoryError"}';
  }

  #within(call: () => number): number {
    if (this.#isBroken) throw brokenRealm("it cannot go on");
    try {
      return call();
    } catch (error) {
      throw this.#explain(error);
    }
  }

  /** Explains an error that ended a call from outside of Python. */
  #explain(error: unknown): unknown {
    if (error instanceof RunError) return error;
    this.#isBroken = true;
    if (error instanceof ClosedDoorError) {
      return new RunError("STRATEGY_FAILED", `Cannot go on: the script has left its interpreter: ${error.message}`);
    }
    if (!(error instanceof WebAssembly.RuntimeError)) return error;
    return new RunError("STRATEGY_FAILED", `Cannot go on: the script has broken its interpreter: ${error.message}`);
  }
}
