import { repeat, run, type RunResult } from "../../../engine/run.ts";
import { runDry } from "../dry_run.ts";
import { checkIntegrity, cutCandles } from "../integrity.ts";
import { type Outcome, RunError } from "../../outcome.ts";
import {
  candleBytes,
  type LoggedLines,
  type LookbackRequest,
  requestLookback,
  SANDBOX_BYTES_MAX,
  type SandboxRun,
  type ValidateJob,
  type ValidModule,
  type WasmJob,
  type WasmPathsJob,
  type WasmTrialsJob,
} from "../task.ts";
import { ABI_VERSION } from "./abi.ts";
import { type CheckedModule, checkModule } from "./check.ts";
import { Guest, type LogLines, ParametersRefused } from "./guest.ts";
import { ModuleFault } from "./sections.ts";
import { GuestStrategy } from "../player.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import { type Series, seriesOf } from "../candle_series.ts";
import { runPaths } from "../code_paths.ts";
import { PointRefused, runTrials, type TrialListener } from "../trials.ts";

// Memories below this size need no collection before the next instance.
const COLLECT_BYTES_MIN = 32 * 2 ** 20;
// The longest wait for a collection, and the pause between two looks.
const MAKE_ROOM_MS = 5000;
const PAUSE_MS = 2;

type Report = (message: LoggedLines) => void;
type WasmAnswer = Outcome<ValidModule> | Outcome<SandboxRun> | LookbackRequest;

/**
 * Checks a module and runs it. A fault of the module is an outcome.
 *
 * @param control The run's control words, in shared memory.
 * @param report Gets each line that the module logs, at once.
 */
export function doWasmJob(job: ValidateJob, control: Int32Array, report?: Report): Outcome<ValidModule>;
export function doWasmJob(job: WasmJob, control: Int32Array, report?: Report): Outcome<SandboxRun> | LookbackRequest;
export function doWasmJob(job: ValidateJob | WasmJob, control: Int32Array, report?: Report): WasmAnswer;
export function doWasmJob(job: ValidateJob | WasmJob, control: Int32Array, report: Report = () => {}): WasmAnswer {
  const log = new ReportedLines(report);
  try {
    const checked = checkModule(job.module);
    const module = compile(checked);
    return job.kind === "validate" ? dryRun(job, checked, module, log) : backtest(job, module, control, log);
  } catch (error) {
    if (error instanceof ModuleFault) {
      // A registered module was valid once: a run that refuses it has failed.
      const code = job.kind === "validate" ? "INVALID_MODULE" : "STRATEGY_FAILED";
      return { type: "failed", code, message: `Cannot use the module: ${error.message}` };
    }
    if (error instanceof RunError) return { ...error.outcome, log: log.lines };
    throw error;
  }
}

/** The module behind checked bytes. @throws {ModuleFault} When they are not valid. */
export function compile({ bytes }: CheckedModule): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new ModuleFault(`it is not valid: ${error.message.replace(/^WebAssembly\.\w+\(\): /, "")}`);
  }
}

function dryRun(
  job: ValidateJob,
  checked: CheckedModule,
  module: WebAssembly.Module,
  log: ReportedLines,
): Outcome<ValidModule> {
  const strategy = new GuestStrategy(() => new Guest(module, job.parametersJson, SAMPLE_SERIES, log), job.candlesMin);
  const { memoryBytesMin, memoryBytesMax } = checked;
  const report = { abiVersion: ABI_VERSION, memoryBytesMin, memoryBytesMax, ...runDry(strategy) };
  return { type: "completed", report, log: log.lines };
}

function backtest(
  job: WasmJob,
  module: WebAssembly.Module,
  control: Int32Array,
  log: ReportedLines,
): Outcome<SandboxRun> | LookbackRequest {
  const { candles, firstIndex, seed, ...settings } = job.task;
  const maker = new GuestMaker(module, SANDBOX_BYTES_MAX + candleBytes(job));
  const series = seriesOf(job.task);
  let isFirst = true;
  const makeGuest = (): Guest => {
    // Only the first instance logs.
    const lines = isFirst ? log : [];
    isFirst = false;
    return maker.make(job.parametersJson, series, lines);
  };
  // A function of its own, because the first instance must be gone before the next one is made.
  const runFirst = (): RunResult | LookbackRequest => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin, { control, firstIndex });
    return requestLookback(job, strategy.warmup) ?? run({ ...settings, firstIndex, candles, strategy, control });
  };
  const result = runFirst();
  if ("type" in result) return result;
  const again = (until: number) => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin);
    return repeat({ ...settings, firstIndex, candles: cutCandles(candles, until), strategy, control: null });
  };
  const integrity = checkIntegrity(again, { result, time: candles.time, close: candles.close, firstIndex, seed });
  return { type: "completed", result, integrity, log: log.lines };
}

/** Runs trials of a module, or one of its strategies on paths. */
export function doWasmRuns(
  job: WasmTrialsJob | WasmPathsJob,
  listener: TrialListener,
): Outcome<object> | LookbackRequest {
  const { control } = listener;
  try {
    const maker = new GuestMaker(compile(checkModule(job.module)), SANDBOX_BYTES_MAX + candleBytes(job));
    const make = (parametersJson: string, firstIndex: number) => {
      const series = seriesOf({ ...job.task, firstIndex });
      const makeGuest = job.kind === "run_trials"
        ? () => makeOrRefuse(maker, parametersJson, series)
        : () => maker.make(parametersJson, series, []);
      return new GuestStrategy(makeGuest, job.candlesMin, { control, firstIndex });
    };
    return job.kind === "run_trials"
      ? runTrials(job, make, listener)
      : runPaths(job, () => make(job.parametersJson, job.task.firstIndex), listener);
  } catch (error) {
    if (!(error instanceof ModuleFault)) throw error;
    return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the module: ${error.message}` };
  }
}

/** @throws {PointRefused} When the module's `init` refuses the parameters. */
function makeOrRefuse(maker: GuestMaker, parametersJson: string, series: Series): Guest {
  try {
    return maker.make(parametersJson, series, []);
  } catch (error) {
    if (error instanceof ParametersRefused) throw new PointRefused(error.message);
    throw error;
  }
}

/** The log of a run, reported line by line: the module may never come back from the next one. */
class ReportedLines implements LogLines {
  readonly lines: string[] = [];
  readonly #report: Report;

  constructor(report: Report) {
    this.#report = report;
  }

  get length(): number {
    return this.lines.length;
  }

  push(line: string): void {
    this.#report({ type: "log", from: this.lines.push(line) - 1, lines: [line] });
  }
}

/** Makes instances of a module one after the other, each of which may have large memory. */
class GuestMaker {
  readonly #module: WebAssembly.Module;
  readonly #bytesMax: number;
  #last: Guest | null = null;
  #waitMs = MAKE_ROOM_MS;

  /** @param bytesMax Resident memory of the process. */
  constructor(module: WebAssembly.Module, bytesMax: number) {
    this.#module = module;
    this.#bytesMax = bytesMax;
  }

  /** @throws {RunError} */
  make(parametersJson: string, series: Series, log: LogLines): Guest {
    const lastBytes = this.#last?.memory.buffer.byteLength ?? 0;
    this.#last = null;
    // After a vain wait the memory belongs to something else: do not wait again.
    if (lastBytes >= COLLECT_BYTES_MIN && !makeRoom(lastBytes, this.#bytesMax, this.#waitMs)) this.#waitMs = 0;
    return this.#last = new Guest(this.#module, parametersJson, series, log);
  }
}

/**
 * Frees the last instance's memory until another of that size fits into the process. Only a garbage collection frees it, and V8
 * returns it to the system some time later, on another thread. If it does not fit, the process's memory limit ends the run.
 *
 * @returns True if it fits.
 */
function makeRoom(bytes: number, bytesMax: number, waitMs: number): boolean {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect !== "function") return true;
  const word = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + waitMs;
  for (;;) {
    collect();
    if (Deno.memoryUsage().rss + bytes < bytesMax) return true;
    if (performance.now() >= until) return false;
    Atomics.wait(word, 0, 0, PAUSE_MS);
  }
}
