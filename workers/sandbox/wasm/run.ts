import { repeat, run, type RunResult } from "../../../engine/run.ts";
import { runDry } from "../dry_run.ts";
import { runPortfolioDry } from "../markets/dry_portfolio.ts";
import { checkIntegrity } from "../integrity.ts";
import { viewCandles } from "../../../engine/candles.ts";
import { type Outcome, RunError } from "../../common/outcome.ts";
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
} from "../task.ts";
import type { WasmTrialsJob } from "../trials_task.ts";
import { ABI_VERSION } from "../contracts/abi.ts";
import { type CheckedModule, checkModule } from "./check.ts";
import { type Guest, type GuestOutput, ParametersRefused } from "./guest.ts";
import type { LogLines } from "./log_lines.ts";
import { GuestPlots, PlotRoom } from "./guest_plots.ts";
import { GuestMaker } from "./maker.ts";
import { GuestPortfolio } from "./portfolio.ts";
import { ModuleFault } from "./sections.ts";
import { GuestStrategy } from "./strategy.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import { seriesOf } from "../candle_series.ts";
import { runPaths } from "../code_paths.ts";
import { PointRefused, runTrials, type TrialListener } from "../trials.ts";

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
  const output = { log, plots: new GuestPlots(job.kind === "run" ? new PlotRoom() : null, log) };
  try {
    const checked = checkModule(job.module);
    if (job.kind === "run") requireOneMarket(checked);
    const maker = new GuestMaker(checked, SANDBOX_BYTES_MAX + candleBytes(job));
    return job.kind === "validate" ? dryRun(job, checked, maker, output) : backtest(job, maker, control, output);
  } catch (error) {
    if (error instanceof ModuleFault) {
      // A registered module was valid once: a run that refuses it has failed.
      const code = job.kind === "validate" ? "INVALID_MODULE" : "STRATEGY_FAILED";
      return { type: "failed", code, message: `Cannot use the module: ${error.message}` };
    }
    if (error instanceof RunError) return { ...error.outcome, log: log.lines, plots: output.plots.take() };
    throw error;
  }
}

function dryRun(
  job: ValidateJob,
  checked: CheckedModule,
  maker: GuestMaker,
  output: RunOutput,
): Outcome<ValidModule> {
  const { memoryBytesMin, memoryBytesMax, decidesOnMarkets } = checked;
  const makeGuest = makingGuests(output, (kept) => maker.make(job.parametersJson, SAMPLE_SERIES, kept));
  const dry = decidesOnMarkets
    ? runPortfolioDry(() => new GuestPortfolio(makeGuest, job.candlesMin))
    : runDry(new GuestStrategy(makeGuest, job.candlesMin));
  const report = { abiVersion: ABI_VERSION, memoryBytesMin, memoryBytesMax, ...dry };
  return { type: "completed", report, log: output.log.lines };
}

/** @throws {ModuleFault} For a module that decides on many markets. */
function requireOneMarket({ decidesOnMarkets }: CheckedModule): void {
  if (decidesOnMarkets) throw new ModuleFault("it decides on many markets: give instruments or a universe");
}

interface RunOutput extends GuestOutput {
  readonly log: ReportedLines;
}

/** Makes a guest for each simulation. Only the first one logs and plots: later ones repeat it. */
function makingGuests(output: RunOutput, make: (kept: Partial<GuestOutput>) => Guest): () => Guest {
  let kept: Partial<GuestOutput> = output;
  return () => {
    const guest = make(kept);
    kept = {};
    return guest;
  };
}

function backtest(
  job: WasmJob,
  maker: GuestMaker,
  control: Int32Array,
  output: RunOutput,
): Outcome<SandboxRun> | LookbackRequest {
  const { candles, firstIndex, seed, ...settings } = job.task;
  const series = seriesOf(job.task);
  const makeGuest = makingGuests(
    output,
    (kept) => maker.make(job.parametersJson, series, kept, candles.time.length),
  );
  // A function of its own, because the first instance must be gone before the next one is made.
  const runFirst = (): RunResult | LookbackRequest => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin);
    return requestLookback(job, strategy.warmup) ?? run({ ...settings, firstIndex, candles, strategy, control });
  };
  const result = runFirst();
  if ("type" in result) return result;
  const plots = output.plots.take();
  const again = (until: number) => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin);
    return repeat({ ...settings, firstIndex, candles: viewCandles(candles, 0, until), strategy, control: null });
  };
  const integrity = checkIntegrity(again, { result, time: candles.time, close: candles.close, firstIndex, seed });
  return { type: "completed", result, integrity, log: output.log.lines, plots };
}

/** Runs trials of a module, or one of its strategies on paths. */
export function doWasmRuns(
  job: WasmTrialsJob | WasmPathsJob,
  listener: TrialListener,
): Outcome<object> | LookbackRequest {
  try {
    const checked = checkModule(job.module);
    requireOneMarket(checked);
    const maker = new GuestMaker(checked, SANDBOX_BYTES_MAX + candleBytes(job));
    const make = (parametersJson: string, firstIndex: number) => {
      const series = seriesOf({ ...job.task, firstIndex });
      // A trial's own candles begin with its lookback.
      const candlesCount = job.task.candles.time.length - (job.task.firstIndex - firstIndex);
      const makeGuest = () => maker.make(parametersJson, series, {}, candlesCount);
      return new GuestStrategy(job.kind === "run_trials" ? () => orRefuse(makeGuest) : makeGuest, job.candlesMin);
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
export function orRefuse<Made>(make: () => Made): Made {
  try {
    return make();
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
