import vm from "node:vm";
import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import { RunError } from "../../outcome.ts";
import { ORDERS_MAX, WARMUP_MAX } from "../wasm/abi.ts";
import type { Series } from "../candle_series.ts";
import { nameCandle, roundCapacity } from "../player.ts";
import type { Plot } from "../../protocol.ts";
import type { LoggedLines } from "../task.ts";
import {
  ask,
  brokenRealm,
  clean,
  isWhole,
  parse,
  parseTexts,
  readColumn,
  readRequests,
  requireBuffer,
  ScriptError,
} from "./realm_answers.ts";
import type { CompiledScript } from "./compile.ts";
import { computeIndicator } from "./indicators.ts";
import {
  CANDLE_COLUMNS,
  COLUMNS_MAX,
  LOG_LINES_MAX,
  MEMORY_BYTES,
  PLOT_NAME_CHARS_MAX,
  PLOT_TIME,
  PLOT_VALUES_MAX,
  PLOTS_MAX,
  STATE,
  WINDOW_ROWS,
  WINDOWS_MAX,
} from "./layout.ts";
import { MoreWanted, type Reads } from "./reads.ts";
import type { Door } from "./realm/realm.ts";
import { REALM_TEXT } from "./realm_text.ts";

type Report = (message: LoggedLines) => void;

const REALM = new vm.Script(REALM_TEXT, { filename: "realm.js" });

/** A column that a script sees: its memory there, and the whole of it. */
export interface ShownColumn {
  readonly rows: Float64Array;
  readonly whole: Float64Array;
}

/**
 * A script in a realm of its own: other globals, no function of ours, no way to make code from texts. Numbers, texts and buffers come
 * out of the realm, and each is checked; errors of the script are shown to its realm alone. A script that breaks its own realm fails.
 */
export class ScriptGuest {
  readonly warmup: number;
  /** Rows of the lists that the script reads. */
  readonly listsMax: Reads["listsMax"];
  /** The memory of state and tables (layout.ts). */
  readonly memory: ArrayBuffer;
  /** Where the realm takes the rows of shown columns from, see realm/memory.ts. */
  readonly windows: Float64Array;
  /** A word with the candles of the range that were decided on, in shared memory. */
  readonly decided: SharedArrayBuffer;
  /** Places in the script that led to the error which ended it, the innermost first. */
  stack: readonly string[] = [];
  readonly #door: Door;
  readonly #bits: number;
  readonly #words: Int32Array;
  readonly #report: Report | null;
  #isPrepared = false;
  /** Lines of the log that the realm had counted at the last look, and those that were reported. */
  #logged = 0;
  #reported = 0;

  /**
   * @param parametersJson The parameters as the script reads them.
   * @param series The candles as the strategy's factory knows them.
   * @param report Gets the lines that the script logs, after each candle: it may never come back from the next one.
   * @throws {RunError} When the script throws.
   */
  constructor(
    { program, reads }: CompiledScript,
    parametersJson: string,
    series: Series,
    report: Report | null = null,
  ) {
    this.#report = report;
    this.listsMax = reads.listsMax;
    this.#bits = reads.bits;
    const realm = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const door: Door = REALM.runInContext(realm);
    this.#door = door;
    this.memory = requireBuffer(door.memory, MEMORY_BYTES);
    this.#words = new Int32Array(this.memory);
    this.windows = new Float64Array(requireBuffer(door.windows, WINDOWS_MAX * WINDOW_ROWS * 8));
    this.decided = door.decided();
    this.#attempt("start", () => runScript(program, realm, door));
    this.#attempt("create the strategy", () => door.start(parametersJson, series.timeframeMs, series.firstIndex));
    const warmup = ask(() => door.warmup());
    this.warmup = isWhole(warmup, WARMUP_MAX) && warmup >= 1 ? warmup : 1;
    this.#reportLog();
  }

  /**
   * Lets the script ask for its indicators, and computes them. A guest plays one simulation: another one needs a guest of its own.
   *
   * @returns The columns that it sees.
   * @throws {RunError} When the script throws.
   */
  prepare(candles: Candles, days: TradingDayColumns | null): readonly ShownColumn[] {
    if (this.#isPrepared) throw new Error("Cannot prepare a script's guest twice: make one for each simulation");
    this.#isPrepared = true;
    const count = candles.time.length;
    const door = this.#door;
    this.#attempt("prepare", () => door.prepare(roundCapacity(count), this.#bits));
    this.#reportLog();
    const columns = CANDLE_COLUMNS.map((name) => candles[name]);
    for (const { name, inputs, numbers } of readRequests(ask(() => door.requests()))) {
      const read = inputs.map((input) => readColumn(input, columns, count));
      columns.push(...computeIndicator(name, read, numbers, days));
      if (columns.length - CANDLE_COLUMNS.length > COLUMNS_MAX) throw brokenRealm("it asks for too many columns");
    }
    const shown = parse(ask(() => door.shown()));
    if (!Array.isArray(shown) || shown.length >= WINDOWS_MAX) throw brokenRealm("it shows no columns");
    return shown.map((number, n) => {
      const rows = new Float64Array(requireBuffer(() => door.column(n), count * 8));
      return { rows, whole: readColumn(number, columns, count) };
    });
  }

  /**
   * Decides on candles from `i` on and before `until`, up to the first with orders or lines for the log.
   *
   * @returns The candle of the orders if `rows` says that there are some; else the next one to decide on.
   * @throws {RunError} When the script throws.
   */
  decide(i: number, until: number, candles: Candles): number {
    let answer: unknown = i;
    try {
      answer = askToDecide(this.#door, i, until);
    } catch (error) {
      throw this.#explain(error, `Cannot go on at ${nameCandle(candles, i)}`);
    }
    if (this.#words[STATE.wanted / 4] !== 0) throw new MoreWanted();
    if (this.#words[STATE.logged / 4] !== this.#logged) this.#reportLog();
    const reached = isWhole(answer, until) && answer >= i ? answer : -1;
    const { rows } = this;
    const isDone = rows === 0 ? reached > i : isWhole(rows, ORDERS_MAX.limit) && reached < until;
    if (isDone && reached >= 0) return reached;
    const failed = reached < 0 || reached === until ? i : reached;
    throw this.#explain(
      new ScriptError(ask(() => this.#door.failure())),
      `Cannot go on at ${nameCandle(candles, failed)}`,
    );
  }

  /** Orders of the last decision. */
  get rows(): number {
    return this.#words[STATE.rows / 4]!;
  }

  /** A RunError for what the script threw; other errors unchanged. @param doing The failed action, as "Cannot …". */
  #explain(error: unknown, doing: string): unknown {
    if (error instanceof ScriptError) {
      this.stack = error.stackLines();
      return new RunError("STRATEGY_FAILED", `${doing}: ${error.describe()}`);
    }
    if (!(error instanceof RangeError)) return error;
    // Our own: the script's calls left no room on the stack, or its columns none in memory.
    const isMemory = /memory|allocation|length/i.test(error.message);
    return isMemory
      ? new RunError("STRATEGY_OUT_OF_MEMORY", `${doing}: there is not enough memory for the script`)
      : new RunError("STRATEGY_FAILED", `${doing}: the script's calls are nested too deeply`);
  }

  /** Runs a call into the realm that returns a description of what the script threw, or null. */
  #attempt(what: string, call: () => unknown): void {
    let failure: unknown;
    try {
      failure = ask(call);
    } catch (error) {
      throw this.#explain(error, `Cannot ${what}`);
    }
    if (failure !== null) throw this.#explain(new ScriptError(failure), `Cannot ${what}`);
  }

  /** Lines that the script logged so far, from this one on; none from a broken realm. */
  log(from = 0): string[] {
    return parseTexts(() => this.#door.log(from), LOG_LINES_MAX);
  }

  #reportLog(): void {
    this.#logged = this.#words[STATE.logged / 4]!;
    if (this.#report === null) return;
    const lines = this.log(this.#reported);
    if (lines.length > 0) this.#report({ type: "log", from: this.#reported, lines });
    this.#reported += lines.length;
  }

  /**
   * The series that the script plotted, a value for each of `count` candles; NaN where it plotted none, or one that is infinite.
   *
   * @throws {RunError} When the realm is broken.
   */
  plots(count: number): Plot[] {
    const names = parseTexts(() => this.#door.plots(), Math.min(PLOTS_MAX, Math.floor(PLOT_VALUES_MAX / count)));
    const panes = parseTexts(() => this.#door.panes(), PLOTS_MAX);
    return names.map((name, n) => {
      const pane = panes[n];
      const isNamed = isPlotText(name) && name !== PLOT_TIME && names.indexOf(name) === n;
      if (!isNamed || !isPlotText(pane)) throw brokenRealm("its plots have no names");
      const given = new Float64Array(requireBuffer(() => this.#door.plot(n), count * 8), 0, count);
      const values = given.map((value) => Number.isFinite(value) ? value : NaN);
      return { name, pane: pane === "" ? null : pane, values };
    });
  }
}

function isPlotText(text: string | undefined): text is string {
  return text !== undefined && text.length <= PLOT_NAME_CHARS_MAX && text === clean(text) && text.isWellFormed();
}

/** Runs a script's own lines. @returns The description of what they threw; null: nothing. */
function runScript(script: vm.Script, realm: vm.Context, door: Door): unknown {
  try {
    script.runInContext(realm);
    return null;
  } catch (error) {
    // An error of ours must not get into the realm.
    if (error instanceof Error) throw error;
    return ask(() => door.describe(error));
  }
}

/** As `ask`, without a function for each candle. */
function askToDecide(door: Door, i: number, until: number): unknown {
  try {
    return door.decide(i, until);
  } catch (error) {
    if (error instanceof Error) throw error;
    throw brokenRealm("its functions fail");
  }
}
