import vm from "node:vm";
import type { Candles } from "../../../engine/candles.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import { RunError } from "../../outcome.ts";
import { FRAME, ORDERS_MAX, TAG_BYTES_MAX, TRADES_MAX, WARMUP_MAX, WORKING_MAX } from "../wasm/abi.ts";
import type { PlayedGuest } from "../player.ts";
import type { Series } from "../candle_series.ts";
import type { Plot } from "../../protocol.ts";
import type { LoggedLines } from "../task.ts";
import { computeIndicator } from "./indicators.ts";
import {
  COLUMNS_MAX,
  LISTS_FLAG,
  LOG_LINES_MAX,
  LOGGED_WORD,
  PLOT_NAME_CHARS_MAX,
  PLOT_TIME,
  PLOT_VALUES_MAX,
  PLOTS_MAX,
} from "./layout.ts";
import {
  ask,
  brokenRealm,
  clean,
  isWhole,
  parseTexts,
  readColumn,
  readRequests,
  requireBuffer,
  ScriptError,
} from "./realm_answers.ts";
import type { Door } from "./realm/realm.ts";
import { REALM_TEXT } from "./realm_text.ts";

type Report = (message: LoggedLines) => void;

const REALM = new vm.Script(REALM_TEXT, { filename: "realm.js" });
const TAGS_BYTES = ORDERS_MAX.limit * TAG_BYTES_MAX;
const ALIGN = 8;

/**
 * A script in a realm of its own: other globals, no function of ours, no way to make code from texts. Numbers, texts and buffers come
 * out of the realm, and each is checked; errors of the script are shown to its realm alone. A script that breaks its own realm fails.
 */
export class ScriptGuest implements PlayedGuest {
  readonly warmup: number;
  readonly ordersMax = ORDERS_MAX.limit;
  readonly tradesMax: number;
  readonly workingMax: number;
  readonly frame = 0;
  readonly memory: { buffer: ArrayBuffer } = { buffer: new ArrayBuffer(0) };
  /** Places in the script that led to the error which ended it, the innermost first. */
  stack: readonly string[] = [];
  readonly #door: Door;
  readonly #hasLists: boolean;
  #words = new Int32Array(0);
  /** Columns in the realm, and the whole ones of the host, which it shows candle by candle. */
  #shown: Float64Array[] = [];
  #whole: readonly Float64Array[] = [];
  #count = 0;
  /** Lines of the log that the realm had counted at the last look, and those that were reported. */
  #logged = 0;
  #reported = 0;
  readonly #report: Report | null;

  /**
   * @param parametersJson The parameters as the script reads them.
   * @param series The candles as the strategy's factory knows them.
   * @param hasLists Writes the lists of orders and trades at each candle. False: a script that reads one ends with ListsWanted.
   * @param report Gets the lines that the script logs, after each candle: it may never come back from the next one.
   * @throws {RunError} When the script throws.
   */
  constructor(
    script: vm.Script,
    parametersJson: string,
    series: Series,
    hasLists = true,
    report: Report | null = null,
  ) {
    this.#hasLists = hasLists;
    this.#report = report;
    this.tradesMax = hasLists ? TRADES_MAX.limit : 0;
    this.workingMax = hasLists ? WORKING_MAX.limit : 0;
    const realm = vm.createContext(vm.constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
    const door: Door = REALM.runInContext(realm);
    this.#door = door;
    this.#attempt("start", () => runScript(script, realm, door));
    this.#attempt("create the strategy", () => door.start(parametersJson, series.timeframeMs, series.firstIndex));
    const warmup = ask(() => door.warmup());
    this.warmup = isWhole(warmup, WARMUP_MAX) && warmup >= 1 ? warmup : 1;
    this.#reportLog();
  }

  /** Room for the host's tables behind the frame, and for tags behind them. */
  allocate(byteLength: number): number {
    const frameBytes = LISTS_FLAG + ALIGN;
    this.memory.buffer = requireBuffer(() => this.#door.allocate(frameBytes + byteLength + TAGS_BYTES), ALIGN);
    this.#words = new Int32Array(this.memory.buffer);
    return frameBytes;
  }

  /** Lets the script ask for its indicators, and computes them. @throws {RunError} */
  prepare(candles: Candles, days: TradingDayColumns | null): void {
    this.#attempt("prepare", () => this.#door.prepare());
    this.#reportLog();
    const { time, open, high, low, close, volume } = candles;
    const columns = [time, open, high, low, close, volume];
    const first = columns.length;
    for (const { name, inputs, numbers } of readRequests(ask(() => this.#door.requests()))) {
      const read = inputs.map((input) => readColumn(input, columns, time.length));
      const made = computeIndicator(name, read, numbers, days);
      columns.push(...made);
      if (columns.length - first > COLUMNS_MAX) throw brokenRealm("it asks for too many columns");
    }
    this.#whole = columns.slice(first);
    this.#shown = this.#whole.map((_, n) =>
      new Float64Array(requireBuffer(() => this.#door.column(n), time.length * 8))
    );
  }

  /** Decides at the newest candle. @returns The rows of the order table. @throws {RunError} When the script throws. */
  readonly onCandle = (): number => {
    const i = this.#words[FRAME.count / 4]! - 1;
    this.#show(i);
    const rows = askToDecide(this.#door);
    if (!this.#hasLists && this.#words[LISTS_FLAG / 4] !== 0) throw new ListsWanted();
    const logged = this.#words[LOGGED_WORD / 4]!;
    if (logged !== this.#logged) this.#reportLog(logged);
    if (isWhole(rows, ORDERS_MAX.limit)) return rows;
    throw new ScriptError(ask(() => this.#door.failure()));
  };

  /** A RunError for what the script threw; other errors unchanged. @param doing The failed action, as "Cannot …". */
  explain(error: unknown, doing: string): unknown {
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

  readonly hasAborted = false;

  checkAbort(): void {}

  /** Runs a call into the realm that returns a description of what the script threw, or null. */
  #attempt(what: string, call: () => unknown): void {
    let failure: unknown;
    try {
      failure = ask(call);
    } catch (error) {
      throw this.explain(error, `Cannot ${what}`);
    }
    if (failure !== null) throw this.explain(new ScriptError(failure), `Cannot ${what}`);
  }

  #show(i: number): void {
    for (let n = 0; n < this.#shown.length; n++) {
      const [shown, whole] = [this.#shown[n]!, this.#whole[n]!];
      for (let row = this.#count; row <= i; row++) shown[row] = whole[row]!;
    }
    this.#count = i + 1;
  }

  /** Lines that the script logged so far, from this one on; none from a broken realm. */
  log(from = 0): string[] {
    return parseTexts(() => this.#door.log(from), LOG_LINES_MAX);
  }

  #reportLog(logged = 0): void {
    this.#logged = logged;
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

/** A script has read a list that is not kept: its run begins again, with lists. */
export class ListsWanted extends Error {
  override readonly name = "ListsWanted";
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
function askToDecide(door: Door): unknown {
  try {
    return door.decide();
  } catch (error) {
    if (error instanceof Error) throw error;
    throw brokenRealm("its functions fail");
  }
}
