import type { Candles } from "../../../engine/candles.ts";
import type { InputCandles } from "../../../engine/inputs.ts";
import type { TradingDayColumns } from "../../../engine/metrics/input.ts";
import type { Plot } from "../../common/protocol.ts";
import { RunError } from "../../common/outcome.ts";
import {
  FAILURE_CHARS_MAX,
  MEMORY_BYTES,
  PEEKS_MAX,
  PLOT_NAME_CHARS_MAX,
  PLOT_TIME,
  PLOT_VALUES_MAX,
  PLOTS_MAX,
  REQUESTS_CHARS_MAX,
  SCHEMA_CHARS_MAX,
  STATE,
  WINDOWS_MAX,
} from "../contracts/layout.ts";
import { BoundedLog, LINE_CHARS_MAX, LOG_LINES_MAX } from "../contracts/log_bounds.ts";
import { whilePreparing } from "../decision_calls.ts";
import type { LoggedLines } from "../task.ts";
import { GuestColumns } from "./guest_columns.ts";
import {
  ask,
  askText,
  brokenRealm,
  clean,
  isWhole,
  parse,
  readRequests,
  requireBuffer,
  ScriptError,
} from "./realm_answers.ts";
import type { Reads } from "./reads.ts";
import type { Door } from "./realm/realm.ts";

/** Gets the lines that a script logs. */
export type Report = (message: LoggedLines) => void;

/** A script in a world of its own. */
export interface OpenedScript {
  readonly door: Door;
  /** Runs the script's own lines. Returns the description of what they threw; null: nothing. */
  readonly run: () => unknown;
  /** The parameters that it declares or reads, as JSON of a parameter_schema; null, and absent: nobody knows them all. */
  readonly schema?: () => string | null;
}

/** A script that can be run, and what it reads. */
export interface CompiledScript {
  readonly reads: Reads;
  /**
   * Opens a new world for it: nothing is left there of another.
   *
   * @param market Of the run, 0 first: its world may end those of the run before.
   */
  readonly open: (market: number) => OpenedScript;
  /** The same for one of many runs that follow each other, in what those before have left as it was in this market. Absent: there is only `open`. */
  readonly openAgain?: (market?: number) => OpenedScript;
}

/** A column that a script sees: its memory there, and the whole of it. */
export interface ShownColumn {
  readonly rows: Float64Array;
  readonly whole: Float64Array;
}

/** A realm's way to the candles of one market. */
interface ColumnDoor {
  readonly requests: () => string;
  readonly shown: () => string;
  readonly column: (n: number) => ArrayBuffer;
}

/** A script's world as its host sees it: its log, its plots, its columns and its errors. */
export class RealmGuest {
  /** The memory of state and tables (layout.ts). */
  readonly memory: ArrayBuffer;
  /** Places in the script that led to the error which ended it, the innermost first. */
  stack: readonly string[] = [];
  protected readonly door: Door;
  protected readonly words: Int32Array;
  readonly #report: Report | null;
  readonly #schema: OpenedScript["schema"];
  readonly #run: OpenedScript["run"];
  readonly #log = new BoundedLog();
  /** Lines of the log that were taken from the realm. */
  protected logged = 0;

  /** @param report Gets the lines that the script logs, after each candle: it may never come back from the next one. */
  constructor({ door, run, schema }: OpenedScript, report: Report | null) {
    this.#report = report;
    this.#schema = schema;
    this.door = door;
    this.memory = requireBuffer(door.memory, MEMORY_BYTES);
    this.words = new Int32Array(this.memory);
    this.#run = run;
  }

  /**
   * Runs the script's own lines. Buffers with candles that have not closed are asked for before: a script may replace the getter of a
   * buffer's length, which would get hold of them.
   *
   * @throws {RunError} When the script throws.
   */
  protected begin(): void {
    this.attempt("start", this.#run);
  }

  /** Gives the script the first rows of the table of fills. */
  giveFills(count: number): void {
    ask(() => this.door.takeFills(count));
  }

  /** The columns that a script sees of a market, which it has just asked for. @throws {RunError} */
  protected showColumns(
    door: ColumnDoor,
    candles: Candles,
    given: {
      readonly days: TradingDayColumns | null;
      readonly inputs: readonly InputCandles[];
      readonly ownMs: number | null;
    },
  ): readonly ShownColumn[] {
    const columns = new GuestColumns(candles, given);
    for (const request of readRequests(ask(door.requests))) columns.add(request);
    const shown = parse(ask(door.shown), REQUESTS_CHARS_MAX);
    if (!Array.isArray(shown) || shown.length >= WINDOWS_MAX) throw brokenRealm("it shows no columns");
    return shown.map((number, n) => {
      const rows = new Float64Array(requireBuffer(() => door.column(n), candles.time.length * 8));
      return { rows, whole: columns.show(number) };
    });
  }

  /** A RunError for what the script threw; other errors unchanged. @param doing The failed action, as "Cannot …". */
  protected explain(error: unknown, doing: string): unknown {
    if (error instanceof ScriptError) {
      this.stack = error.stackLines();
      const description = error.describe();
      // Python's own.
      const code = /^MemoryError\b/.test(description) ? "STRATEGY_OUT_OF_MEMORY" : "STRATEGY_FAILED";
      return new RunError(code, `${doing}: ${description}`);
    }
    if (!(error instanceof RangeError)) return error;
    // Our own: the script's calls left no room on the stack, or its columns none in memory.
    const isMemory = /memory|allocation|length/i.test(error.message);
    return isMemory
      ? new RunError("STRATEGY_OUT_OF_MEMORY", `${doing}: there is not enough memory for the script`)
      : new RunError("STRATEGY_FAILED", `${doing}: the script's calls are nested too deeply`);
  }

  /** Runs a call into the realm that returns a description of what the script threw, or null. */
  protected attempt(what: string, call: () => unknown): void {
    let failure: unknown;
    try {
      failure = whilePreparing(() => ask(call));
    } catch (error) {
      throw this.explain(error, `Cannot ${what}`);
    }
    if (failure !== null) throw this.explain(new ScriptError(failure), `Cannot ${what}`);
  }

  /** The parameters that the script declares or reads, as a parameter_schema; null: it may read others. */
  declaredParameters(): object | null {
    const schema = parse(this.#schema?.(), SCHEMA_CHARS_MAX);
    return typeof schema === "object" && !Array.isArray(schema) ? schema : null;
  }

  /** Places at which it has read candles that have not closed, where its series asks to look. */
  peeks(): readonly string[] {
    return readTexts(ask(() => this.door.peeks()));
  }

  /** Members that it has read and its objects do not have, with their places, likewise. */
  unknown(): readonly string[] {
    return readTexts(ask(() => this.door.unknown?.() ?? "[]"));
  }

  /** Lines that the script has logged; of a broken realm, those that were taken before. */
  log(): readonly string[] {
    try {
      this.takeLog();
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
    }
    return this.#log.lines;
  }

  /** Takes the lines that are new, and reports them. @throws {RunError} When the realm gives what is no line. */
  protected takeLog(): void {
    const { lines } = this.#log;
    const from = lines.length;
    const counted = Math.min(this.words[STATE.logged / 4]!, LOG_LINES_MAX);
    while (this.logged < counted) {
      const n = this.logged++;
      this.#log.add(clean(askText(() => this.door.line(n), "a line of its log", LINE_CHARS_MAX)));
    }
    if (lines.length > from) this.#report?.({ type: "log", from, lines: lines.slice(from) });
  }

  /**
   * The series that the script plotted, a value for each of `count` candles; NaN where it plotted none, or one that is infinite.
   *
   * @throws {RunError} When the realm is broken.
   */
  plots(count: number): Plot[] {
    const plotsCount = ask(() => this.door.plotsCount());
    const plotsMax = Math.min(PLOTS_MAX, Math.floor(PLOT_VALUES_MAX / count));
    if (!isWhole(plotsCount, plotsMax)) throw brokenRealm(`it plots more than ${plotsMax} series`);
    const names = new Set<string>();
    return Array.from({ length: plotsCount }, (_, n) => {
      const name = askText(() => this.door.plotName(n), "a plot's name", PLOT_NAME_CHARS_MAX);
      const pane = askText(() => this.door.pane(n), "a plot's pane", PLOT_NAME_CHARS_MAX);
      const isNamed = isPlotText(name) && name !== PLOT_TIME && !names.has(name);
      if (!isNamed || !isPlotText(pane)) throw brokenRealm("its plots have no names");
      names.add(name);
      const given = new Float64Array(requireBuffer(() => this.door.plot(n), count * 8), 0, count);
      const values = given.map((value) => Number.isFinite(value) ? value : NaN);
      return { name, pane: pane === "" ? null : pane, values };
    });
  }
}

/** A realm's list of texts, as JSON. */
function readTexts(json: unknown): readonly string[] {
  const texts = parse(json, FAILURE_CHARS_MAX);
  if (!Array.isArray(texts) || texts.length > PEEKS_MAX) return [];
  return texts.map((text) => clean(String(text)));
}

function isPlotText(text: string): boolean {
  return text === clean(text) && text.isWellFormed();
}
