import { LINE_CHARS_MAX } from "../contracts/log_bounds.ts";
import type { Door } from "../script/realm/realm.ts";
import { brokenRealm, parse } from "../script/realm_answers.ts";
import { MEMORY_BYTES, PLOTS_MAX, REQUESTS_CHARS_MAX, STATE, WINDOW_ROWS, WINDOWS_MAX } from "../contracts/layout.ts";
import { RunError } from "../../common/outcome.ts";
import type { Interpreter } from "./interpreter.ts";
import { ANSWER_BYTES_MAX, MACHINE, Machine } from "./machine.ts";
import { PythonPortfolio } from "./portfolio_door.ts";
import { SharedTables } from "./shared_tables.ts";
import { ShownColumns } from "./shown_columns.ts";

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
  readonly #machine: Machine;
  readonly portfolio: PythonPortfolio;
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
  #columns: ShownColumns | null = null;
  #decide = 0;
  #firstIndex = 0;
  #failure = "";
  /** True if it has fills that the strategy was not told of. */
  #hasFills = false;
  #ended: EndedScript | null = null;

  /** @param machine The address of its machine's functions; default: that of the interpreter's first. */
  constructor(python: Interpreter, machine = python.firstMachine) {
    this.#python = python;
    this.#machine = new Machine(python, machine);
    const addressOf = (place: number, bytes: number) => python.addressOf(this.#machine.place(place), bytes);
    this.#tables = addressOf(MACHINE.tables, MEMORY_BYTES);
    this.#shared = new SharedTables(python, this.#tables, this.#memory);
    this.#candleWord = addressOf(MACHINE.candle, 8) >> 2;
    this.#equityDouble = addressOf(MACHINE.equity, 8) >> 3;
    this.#arguments = python.allocate(4 * 5) >> 2;
    python.words[this.#candleWord] = -1;
    this.portfolio = new PythonPortfolio({
      machine: this.#machine,
      candleWord: this.#candleWord,
      takeLog: () => this.#shared.takeLog(),
      fail: (failure) => this.#failure = failure,
    });
  }

  describe = (): string => this.#failure;
  memory = (): ArrayBuffer => this.#memory;
  windows = (): ArrayBuffer => this.#windowsBuffer;
  decided = (): SharedArrayBuffer => this.#decidedBuffer;
  /** An interrupt finds the place of a script in Python. */
  showPlaces = (): void => {};
  failure = (): string => this.#failure;
  peeks = (): string => this.#machine.ask(MACHINE.peeks) ?? "[]";
  requests = (): string => this.#machine.ask(MACHINE.requests) ?? "";
  shown = (): string => this.#machine.ask(MACHINE.shown) ?? "";
  column = (n: number): ArrayBuffer => this.#columns?.ahead(n) ?? new ArrayBuffer(0);
  plotsCount = (): number => this.#listPlots("names").length;
  plotName = (n: number): string => this.#listPlots("names")[n] ?? "";
  pane = (n: number): string => this.#listPlots("panes")[n] ?? "";
  warmup = (): number => Number(this.#machine.ask(MACHINE.warmup));
  /** The parameters that the strategy's class declares, as JSON of a parameter_schema; null: it has none. */
  schema = (): string | null => this.#ended === null ? this.#machine.ask(MACHINE.schema) : this.#ended.schema;

  line = (n: number): string => {
    const line = parse(this.#machine.ask(MACHINE.line, this.#python.integer(n)), ANSWER_BYTES_MAX);
    return String(line).slice(0, LINE_CHARS_MAX);
  };

  /** Compiles a text. Returns as `start`. */
  compile = (source: string): string | null => this.#machine.ask(MACHINE.compileText, this.#python.text(source));

  /** Ends it: its memory is another's from now on. Its plots and its parameters stay. */
  end(): void {
    if (this.#machine.isBroken) return;
    try {
      const names = this.#listPlots("names");
      const schema = this.schema();
      this.#ended = { schema, names, panes: this.#listPlots("panes"), series: names.map((_, n) => this.plot(n)) };
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
    }
    this.#machine.isBroken = true;
  }

  /** A door to a machine of its own in the same interpreter, for another market of the run. */
  openAnother(): PythonDoor {
    const machine = this.#machine.within(() => this.#python.call(this.#machine.place(MACHINE.another)));
    if (machine === 0) throw new RunError("STRATEGY_OUT_OF_MEMORY", NO_ROOM);
    return new PythonDoor(this.#python, machine);
  }

  start = (parametersJson: string, timeframeMs: number, firstIndex: number): string | null => {
    this.#firstIndex = firstIndex;
    const python = this.#python;
    return this.#machine.ask(
      MACHINE.start,
      python.text(parametersJson),
      python.double(timeframeMs),
      python.integer(firstIndex),
    );
  };

  prepare = (rows: number, bits: number, inputsJson: string): string | null => {
    const python = this.#python;
    const failure = this.#machine.ask(
      MACHINE.prepare,
      python.integer(rows),
      python.integer(bits),
      python.text(inputsJson),
    );
    this.#shared.takeLog();
    if (failure !== null) return failure;
    const shown = parse(this.shown(), REQUESTS_CHARS_MAX);
    this.#columns = new ShownColumns(
      python,
      this.#machine.place(MACHINE.views),
      Array.isArray(shown) ? shown.length : 0,
      rows,
    );
    const decider = this.#machine.within(() => python.call(this.#machine.place(MACHINE.decider)));
    if (decider === 0) return this.#machine.takeError();
    this.#decide = python.item(decider, 0);
    for (const n of [1, 2, 3]) python.words[this.#arguments + 1 + n] = python.item(decider, n);
    return null;
  };

  plot = (number: number): ArrayBuffer => {
    const kept = this.#ended?.series[number];
    if (kept !== undefined) return kept;
    const python = this.#python;
    const series = this.#machine.within(() => python.call(this.#machine.place(MACHINE.plot), python.integer(number)));
    const bytes = 8 * (this.#columns?.capacity ?? this.portfolio.marks);
    const at = series === 0 ? 0 : python.addressOf(series, bytes);
    if (at === 0) throw brokenRealm("its plots are none");
    return python.heap.slice(at, at + bytes).buffer;
  };

  decide = (i: number, until: number): number => {
    const columns = this.#columns;
    if (columns === null || this.#machine.isBroken) throw brokenRealm("it cannot go on");
    if (this.#shared.give()) this.#machine.ask(MACHINE.takeAccount);
    try {
      return this.#decideUntil(columns, i, until);
    } catch (error) {
      throw this.#machine.explain(error);
    }
  };

  hasScore = (): boolean => this.#machine.ask(MACHINE.hasScore) !== null;

  score = (i: number): number => {
    const columns = this.#columns;
    if (columns === null || this.#machine.isBroken) throw brokenRealm("it cannot go on");
    columns.show(i, this.#windows);
    this.#python.words[this.#candleWord] = i;
    const answer = this.#machine.ask(MACHINE.score, this.#python.integer(i)) ?? "";
    this.#shared.takeLog();
    const isError = answer.startsWith("{");
    this.#words[STATE.rows / 4] = isError ? -1 : 0;
    if (isError) this.#failure = answer;
    return Number(answer);
  };

  takeFills = (count: number): void => {
    this.#shared.giveFills(count);
    const failure = this.#machine.ask(MACHINE.takeFills, this.#python.integer(count));
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
      this.#machine.none,
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
        const failure = this.#machine.ask(MACHINE.reportFills);
        if (failure !== null) return this.#fail(i, failure);
      }
      const index = words[indexWord] = python.integer(i);
      const answer = python.vectorcall(decide, args, ARGUMENTS);
      python.release(index);
      if (answer === 0) return this.#fail(i, this.#machine.takeError());
      if (answer !== none) {
        const failure = this.#machine.ask(MACHINE.checkAnswer, answer);
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

  #listPlots(what: "names" | "panes"): readonly string[] {
    if (this.#ended !== null) return this.#ended[what];
    const lists = Object(parse(this.#machine.ask(MACHINE.plots), ANSWER_BYTES_MAX));
    const list: unknown = Reflect.get(lists, what);
    return Array.isArray(list) ? list.slice(0, PLOTS_MAX + 1).map(String) : [];
  }
}
