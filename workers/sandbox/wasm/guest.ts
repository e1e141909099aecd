import { type Period, PERIODS } from "../../../engine/portfolio/portfolio.ts";
import { RunError } from "../../common/outcome.ts";
import type { Series } from "../candle_series.ts";
import {
  ABI_VERSION,
  ALIGN_BYTES,
  FILLS_MAX,
  FRAME,
  FRAME_BYTES,
  IMPORT_MODULE,
  MEMORY_IMPORT,
  ORDERS_MAX,
  TRADES_MAX,
  WARMUP_MAX,
  WORKING_MAX,
} from "../contracts/abi.ts";
import type { DrivenGuest, Driver } from "./driver.ts";
import { makeAsk, makeImports, makePlots, makeZones, type ReadText, readText } from "./guest_imports.ts";
import { AskedInputs } from "./guest_inputs.ts";
import type { GuestPlots } from "./guest_plots.ts";
import type { LogLines } from "./log_lines.ts";

/** Thrown through the module's calls when it calls `abort`. */
class GuestAbort extends Error {
  override readonly name = "GuestAbort";
}

/** The module does not take its parameters. */
export class ParametersRefused extends RunError {
  /** @param answer Of `init`. */
  constructor(answer: number) {
    super("STRATEGY_FAILED", `Cannot initialise: init returned ${answer}`);
  }
}

/** Receives what an instance says. */
export interface GuestOutput {
  /** The lines that it logs, LOG_LINES_MAX at most. */
  readonly log: LogLines;
  readonly plots: GuestPlots;
}

/** A module, and what one instance after the other has of its host. */
interface GuestCode {
  readonly module: WebAssembly.Module;
  readonly driver: Driver;
  /** A memory as large as a new one, and empty. */
  readonly memory: WebAssembly.Memory;
}

type Call = (...args: readonly number[]) => number;

/**
 * An initialised instance of a checked module: it has read its parameters and requested its tables.
 *
 * Everything that it returns is checked: pointers against its memory, numbers against their limits.
 */
export class Guest implements DrivenGuest {
  readonly warmup: number;
  readonly ordersMax: number;
  readonly tradesMax: number;
  readonly workingMax: number;
  /** Address of the frame. */
  readonly frame: number;
  /** The exported `on_candle`. */
  readonly onCandle: Call;
  /** The exported `on_markets`; on_candle of a module for one market, which nobody calls so. */
  readonly onMarkets: (frame: number, markets: number) => number;
  /** Rows of the table of fills, and whether trades have details. */
  readonly fillsMax: number;
  readonly hasDetails: boolean;
  /** The period after which a module for many markets is asked; null: whenever a candle closes. */
  readonly every: Period | null;
  /** True if the module says how good an entry would be. */
  readonly hasScore: boolean;
  readonly memory: WebAssembly.Memory;
  readonly driver: Driver;
  /** Of the run's candles, the first in its range. */
  readonly firstIndex: number;
  /** Markets of the run. */
  readonly markets: number;
  /** The inputs that the guest asked for in `init`. */
  readonly inputs: AskedInputs;
  readonly plots: GuestPlots;
  /** The message of the module's `abort`. The run is over even if the module caught the exception. */
  abortMessage: string | null = null;
  readonly #alloc: Call;
  readonly #score: Call | null;

  /**
   * @param parametersJson The parameters as the module reads them.
   * @param series The candles as `init` knows them.
   * @throws {ParametersRefused} When `init` returns another number than 0.
   * @throws {RunError} When it traps, or returns an invalid value.
   * @throws {TypeError} When WebAssembly refuses the module: it was not checked.
   */
  constructor({ module, driver, memory }: GuestCode, parametersJson: string, series: Series, output: GuestOutput) {
    this.plots = output.plots;
    this.memory = memory;
    this.driver = driver;
    this.firstIndex = series.firstIndex;
    this.markets = series.markets ?? 1;
    this.inputs = new AskedInputs(series);
    const read: ReadText = (pointer, byteLength, encoding) => readText(memory, pointer, byteLength, encoding);
    const abort = (message: string): never => {
      this.abortMessage = message;
      driver.stop();
      throw new GuestAbort(message);
    };
    const imports = {
      [IMPORT_MODULE]: {
        ...makeImports(read, abort, output.log),
        ...makeZones(read, abort),
        ...makePlots(read, abort, output.plots),
        input: makeAsk(read, abort, (name) => this.inputs.ask(name)),
        resample: makeAsk(read, abort, (timeframe) => this.inputs.resample(timeframe)),
      },
      [MEMORY_IMPORT.module]: { [MEMORY_IMPORT.name]: memory },
    };
    const { exports } = attempt("start", () => new WebAssembly.Instance(module, imports));
    this.onCandle = callable(exports["on_candle"]);
    this.onMarkets = callable(exports["on_markets"] ?? exports["on_candle"]);
    this.#alloc = callable(exports["alloc"]);
    this.#score = exports["score"] === undefined ? null : callable(exports["score"]);
    this.hasScore = this.#score !== null;
    if (exports["_initialize"] !== undefined) attempt("start", () => callable(exports["_initialize"])(0));
    const version = attempt("read its ABI version", () => callable(exports["abi_version"])(0));
    if (version !== ABI_VERSION) {
      throw new RunError(
        "STRATEGY_FAILED",
        `Cannot speak ABI version ${version}: this host speaks ${ABI_VERSION}`,
      );
    }
    const json = new TextEncoder().encode(parametersJson);
    this.frame = this.allocate(FRAME_BYTES + json.length);
    this.#writeFrame(json, series);
    const answer = attempt("initialise", () => callable(exports["init"])(this.frame));
    this.checkAbort("Cannot initialise");
    this.inputs.close();
    if (answer !== 0) throw new ParametersRefused(answer);
    const words = new Uint32Array(this.memory.buffer, this.frame, FRAME_BYTES / 4);
    this.warmup = request(words, "warmup", FRAME.warmup, 1, WARMUP_MAX);
    this.ordersMax = request(words, "orders_max", FRAME.ordersMax, 1, ORDERS_MAX.limit);
    this.tradesMax = request(words, "trades_max", FRAME.tradesMax, 0, TRADES_MAX.limit);
    this.workingMax = request(words, "working_max", FRAME.workingMax, 0, WORKING_MAX.limit);
    this.fillsMax = request(words, "fills_max", FRAME.fillsMax, 0, FILLS_MAX.limit);
    this.hasDetails = request(words, "has_details", FRAME.hasDetails, 0, 1) === 1;
    this.every = exports["every"] === undefined ? null : readPeriod(callable(exports["every"]));
  }

  /** True once it has given up, even if its call returned. */
  get hasAborted(): boolean {
    return this.abortMessage !== null;
  }

  /** @throws {RunError} When the module has called `abort`, even if it caught the exception and went on. */
  checkAbort(doing: string): void {
    if (this.abortMessage !== null) throw explainTrap(new GuestAbort(this.abortMessage), doing);
  }

  /** A RunError for an error of its own; others unchanged. @param doing The failed action, as "Cannot …". */
  explain(error: unknown, doing: string): unknown {
    return explainTrap(error, doing);
  }

  /** How good an entry would be at the newest candle that the frame counts; NaN without the function. @throws {RunError} @param doing As of `explain`. */
  score(doing: string): number {
    let answer: number;
    try {
      answer = this.#score?.(this.frame) ?? NaN;
    } catch (error) {
      throw this.explain(error, doing);
    }
    this.checkAbort(doing);
    return answer;
  }

  /** The address of a block of its memory that is the host's for the whole run. @throws {RunError} */
  allocate(byteLength: number): number {
    const what = `allocate ${byteLength} bytes`;
    const pointer = attempt(what, () => this.#alloc(byteLength)) >>> 0;
    if (pointer === 0) throw new RunError("STRATEGY_OUT_OF_MEMORY", `Cannot ${what}: alloc returned 0`);
    const size = this.memory.buffer.byteLength;
    if (pointer % ALIGN_BYTES !== 0) {
      throw new RunError(
        "STRATEGY_FAILED",
        `Cannot ${what}: alloc returned ${pointer}, which is not a multiple of ${ALIGN_BYTES}`,
      );
    }
    if (pointer + byteLength > size) {
      const found = `alloc returned ${pointer}, and the memory has ${size} bytes`;
      throw new RunError("STRATEGY_FAILED", `Cannot ${what}: ${found}`);
    }
    return pointer;
  }

  #writeFrame(json: Uint8Array, series: Series): void {
    const bytes = new Uint8Array(this.memory.buffer, this.frame, FRAME_BYTES + json.length);
    bytes.fill(0, 0, FRAME_BYTES);
    bytes.set(json, FRAME_BYTES);
    const words = new Uint32Array(this.memory.buffer, this.frame, FRAME_BYTES / 4);
    words[FRAME.abiVersion / 4] = ABI_VERSION;
    words[FRAME.size / 4] = FRAME_BYTES;
    words[FRAME.parametersPointer / 4] = this.frame + FRAME_BYTES;
    words[FRAME.parametersBytes / 4] = json.length;
    words[FRAME.warmup / 4] = 1;
    words[FRAME.ordersMax / 4] = ORDERS_MAX.default;
    words[FRAME.tradesMax / 4] = TRADES_MAX.default;
    words[FRAME.workingMax / 4] = WORKING_MAX.default;
    words[FRAME.firstIndex / 4] = series.firstIndex;
    words[FRAME.inputsCount / 4] = this.inputs.count;
    new Float64Array(this.memory.buffer, this.frame, FRAME_BYTES / 8)[FRAME.timeframeMs / 8] = series.timeframeMs;
  }
}

function readPeriod(every: Call): Period | null {
  const number = attempt("read its period", () => every());
  if (number === 0) return null;
  const period = PERIODS[number - 1];
  if (period !== undefined) return period;
  throw new RunError(
    "STRATEGY_FAILED",
    `Cannot initialise: every returned ${number}: it must be 0 to ${PERIODS.length}`,
  );
}

/** Runs a call into a module. @throws {RunError} Naming the action and the reason. */
export function attempt<Result>(what: string, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw explainTrap(error, `Cannot ${what}`);
  }
}

/**
 * Turns an error from a call into a module into a RunError; errors that the module did not cause are returned unchanged.
 *
 * @param doing The failed action, as "Cannot …"; the reason is added.
 */
function explainTrap(error: unknown, doing: string): unknown {
  if (error instanceof GuestAbort) {
    return new RunError("STRATEGY_FAILED", `${doing}: the strategy gave up: ${error.message}`);
  }
  if (error instanceof WebAssembly.RuntimeError) {
    return new RunError("STRATEGY_FAILED", `${doing}: the module trapped: ${error.message}`);
  }
  if (error instanceof RangeError && /memory/.test(error.message)) {
    return new RunError("STRATEGY_OUT_OF_MEMORY", `${doing}: there is not enough memory for the module`);
  }
  if (error instanceof RangeError) {
    return new RunError("STRATEGY_FAILED", `${doing}: the module's calls are nested too deeply`);
  }
  if (Object.prototype.toString.call(error) === "[object WebAssembly.Exception]") {
    return new RunError("STRATEGY_FAILED", `${doing}: the module threw an exception and did not catch it`);
  }
  return error;
}

function callable(value: unknown): Call {
  if (!isCall(value)) throw new TypeError("Cannot find a function that the check found");
  return value;
}

function isCall(value: unknown): value is Call {
  return typeof value === "function";
}

function request(words: Uint32Array, name: string, offset: number, min: number, max: number): number {
  const value = words[offset / 4]!;
  if (value >= min && value <= max) return value;
  throw new RunError(
    "STRATEGY_FAILED",
    `Cannot initialise: init set ${name} to ${value}: it must be ${min} to ${max}`,
  );
}
