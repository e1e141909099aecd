import type vm from "node:vm";
import { repeat, run, type RunResult } from "../../../engine/run.ts";
import { type Outcome, RunError } from "../../outcome.ts";
import { runDry } from "../dry_run.ts";
import { checkIntegrity, cutCandles } from "../integrity.ts";
import { GuestStrategy } from "../player.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import { type Series, seriesOf } from "../candle_series.ts";
import { runPaths } from "../code_paths.ts";
import { PointRefused, runTrials, type TrialListener } from "../trials.ts";
import {
  type LoggedLines,
  type LookbackRequest,
  requestLookback,
  type SandboxRun,
  type ScriptCheckJob,
  type ScriptJob,
  type ScriptPathsJob,
  type ScriptTrialsJob,
  type ValidScript,
} from "../task.ts";
import type { Plot } from "../../protocol.ts";
import { compileScript, ScriptFault } from "./compile.ts";
import { ListsWanted, ScriptGuest } from "./guest.ts";

// What a script's RangeError at its creation is reported as, see guest.ts.
const REFUSAL = /^Cannot create the strategy: RangeError/;

/**
 * Compiles a script and runs it. A fault of the script is an outcome.
 *
 * @param control The run's control words, in shared memory.
 * @param report Gets the lines that the script logs, as it runs.
 */
export async function doScriptJob(
  job: ScriptCheckJob | ScriptJob,
  control: Int32Array,
  report: (message: LoggedLines) => void,
): Promise<Outcome<ValidScript> | Outcome<SandboxRun> | LookbackRequest> {
  const guests: ScriptGuest[] = [];
  try {
    const script = await compileScript(job.source);
    return job.kind === "script" ? backtest(job, script, { control, guests, report }) : check(job, script);
  } catch (error) {
    if (error instanceof ScriptFault) {
      const code = job.kind === "script" ? "STRATEGY_FAILED" : "INVALID_SCRIPT";
      return { type: "failed", code, message: `Cannot use the script: ${error.message}` };
    }
    if (error instanceof RunError) {
      const log = [...logOf(guests), ...stackOf(guests)];
      return { ...error.outcome, log, plots: "task" in job ? plotsOfFailure(job, guests) : [] };
    }
    throw error;
  }
}

/** Runs trials of a script, or its strategy on paths. */
export async function doScriptRuns(
  job: ScriptTrialsJob | ScriptPathsJob,
  listener: TrialListener,
): Promise<Outcome<object> | LookbackRequest> {
  const { control } = listener;
  try {
    const script = await compileScript(job.source);
    const make = (parametersJson: string, firstIndex: number, makeGuest: MakeGuest) => {
      const series = seriesOf({ ...job.task, firstIndex });
      return new GuestStrategy(() => makeGuest(script, parametersJson, series), job.candlesMin, {
        control,
        firstIndex,
      });
    };
    if (job.kind === "script_trials") {
      return runTrials(job, (json, firstIndex) => make(json, firstIndex, makeOrRefuse), listener);
    }
    const makeGuest: MakeGuest = (script, json, series) => new ScriptGuest(script, json, series);
    return runPaths(job, () => make(job.parametersJson, job.task.firstIndex, makeGuest), listener);
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the script: ${error.message}` };
  }
}

type MakeGuest = (script: vm.Script, parametersJson: string, series: Series) => ScriptGuest;

/** @throws {PointRefused} When the script throws a RangeError at its creation. */
function makeOrRefuse(script: vm.Script, parametersJson: string, series: Series): ScriptGuest {
  try {
    return new ScriptGuest(script, parametersJson, series);
  } catch (error) {
    if (error instanceof RunError && REFUSAL.test(error.message)) throw new PointRefused(error.message);
    throw error;
  }
}

function check(job: ScriptCheckJob, script: vm.Script): Outcome<ValidScript> {
  const guest = new ScriptGuest(script, job.parametersJson, SAMPLE_SERIES);
  const report = runDry(new GuestStrategy(() => guest, job.candlesMin));
  return { type: "completed", report, log: guest.log() };
}

interface RunParts {
  readonly control: Int32Array;
  /** Receives the first instance. */
  readonly guests: ScriptGuest[];
  readonly report: (message: LoggedLines) => void;
}

/**
 * Runs a script without lists of orders and trades, and from the start with them if it reads one.
 */
function backtest(
  job: ScriptJob,
  script: vm.Script,
  parts: RunParts,
): Outcome<SandboxRun> | LookbackRequest {
  try {
    return backtestWith(job, script, { ...parts, hasLists: false });
  } catch (error) {
    if (!(error instanceof ListsWanted)) throw error;
    parts.guests.length = 0;
    return backtestWith(job, script, { ...parts, hasLists: true });
  }
}

function backtestWith(
  job: ScriptJob,
  script: vm.Script,
  { control, guests, report, hasLists }: RunParts & { readonly hasLists: boolean },
): Outcome<SandboxRun> | LookbackRequest {
  const { candles, firstIndex, seed, ...settings } = job.task;
  const makeGuest = (): ScriptGuest => {
    // Later instances repeat what the first one logs, and their memory is needed.
    const isFirst = guests.length === 0;
    const series = seriesOf(job.task);
    const guest = new ScriptGuest(script, job.parametersJson, series, hasLists, isFirst ? report : null);
    if (isFirst) guests.push(guest);
    return guest;
  };
  // A function of its own, because the first instance must be gone before the next one is made.
  const runFirst = (): RunResult | LookbackRequest => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin, { control, firstIndex });
    return requestLookback(job, strategy.warmup) ?? run({ ...settings, firstIndex, candles, strategy, control });
  };
  const result = runFirst();
  if ("type" in result) return result;
  const log = logOf(guests);
  const plots = guests[0]?.plots(candles.time.length) ?? [];
  const again = (until: number) => {
    const strategy = new GuestStrategy(makeGuest, job.candlesMin);
    return repeat({ ...settings, firstIndex, candles: cutCandles(candles, until), strategy, control: null });
  };
  const integrity = checkIntegrity(again, { result, time: candles.time, close: candles.close, firstIndex, seed });
  return { type: "completed", result, integrity, log, plots };
}

function logOf([first]: readonly ScriptGuest[]): readonly string[] {
  return first?.log() ?? [];
}

function stackOf([first]: readonly ScriptGuest[]): readonly string[] {
  return first?.stack ?? [];
}

/** Plots of a run that failed; none from a broken realm. */
function plotsOfFailure({ task: { candles } }: ScriptJob, [first]: readonly ScriptGuest[]): readonly Plot[] {
  try {
    return first?.plots(candles.time.length) ?? [];
  } catch (error) {
    if (error instanceof RunError) return [];
    throw error;
  }
}
