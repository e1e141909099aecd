import type { Integrity } from "../../../engine/result.ts";
import { repeat, run, type RunResult } from "../../../engine/run.ts";
import { type Outcome, RunError } from "../../common/outcome.ts";
import { runDry } from "../dry_run.ts";
import { checkIntegrity } from "../integrity.ts";
import { viewCandles } from "../../../engine/candles.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import { type Series, seriesOf } from "../candle_series.ts";
import { runPaths } from "../code_paths.ts";
import { PointRefused, runTrials, type TrialListener } from "../trials.ts";
import {
  type DryRun,
  type LoggedLines,
  type LookbackRequest,
  requestLookback,
  type SandboxRun,
  type ScriptCheckJob,
  type ScriptJob,
  type ScriptPathsJob,
  type ValidScript,
} from "../task.ts";
import type { ScriptTrialsJob } from "../trials_task.ts";
import type { Plot } from "../../common/protocol.ts";
import { ScriptFault } from "./fault.ts";
import { type CompiledScript, ScriptGuest } from "./guest.ts";
import { peeksOfCheck, peeksOfRun } from "./find_peeks.ts";
import { isPortfolio, namesPortfolio } from "./is_portfolio.ts";
import type { RealmGuest } from "./realm_guest.ts";
import { ScriptStrategy } from "./strategy.ts";
import { TrialWorlds } from "./trial_worlds.ts";

// The report of a script's RangeError at its creation, or a Python script's ValueError, see guest.ts.
const REFUSAL = /^Cannot create the strategy: (RangeError|ValueError)/;

/** Compiles a script's text. @throws {ScriptFault} */
export type Compile = (source: string) => Promise<CompiledScript>;

/** The watchers of a run. */
interface ScriptWatch {
  /** The run's control words, in shared memory. */
  readonly control: Int32Array;
  /** Gets the lines that the script logs, as it runs. */
  readonly report: (message: LoggedLines) => void;
  /** Gets a word, in shared memory, that counts the candles of the range that a script has decided on. */
  readonly countIn: (decided: SharedArrayBuffer) => void;
}

/** Compiles a script and runs it. A fault of the script is an outcome. */
export async function doScriptJob(
  job: ScriptCheckJob | ScriptJob,
  watch: ScriptWatch,
  compile: Compile,
): Promise<Outcome<ValidScript> | Outcome<SandboxRun> | LookbackRequest> {
  const guests: RealmGuest[] = [];
  try {
    const script = await compile(job.source);
    if (job.kind === "script") return script.reads.run(() => backtest(job, script, { ...watch, guests }));
    // A process that is to run a script starts without it.
    const portfolios = namesPortfolio(job.source) ? await import("./check_portfolio.ts") : null;
    return script.reads.run(() => check(job, script, { ...watch, guests, portfolios }));
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
  { countIn, ...listener }: TrialListener & Pick<ScriptWatch, "countIn">,
  compile: Compile,
): Promise<Outcome<object> | LookbackRequest> {
  try {
    const script = await compile(job.source);
    const worlds = new TrialWorlds(script);
    let counted: SharedArrayBuffer | null = null;
    let newest: { readonly guest: ScriptGuest; readonly parametersJson: string } | null = null;
    const make = (parametersJson: string, makeGuest: MakeGuest, firstIndex: number, lookback?: number) => {
      const series = seriesOf({ ...job.task, firstIndex }, lookback);
      return new ScriptStrategy(() => {
        // A trial whose warm-up turned out to be another is given its candles: to make its strategy anew takes longer.
        const isMoved = newest?.parametersJson === parametersJson && newest.guest.move(series);
        if (isMoved !== true) newest = null;
        const guest = newest?.guest ?? makeGuest(worlds.script, parametersJson, series);
        newest = { guest, parametersJson };
        if (guest.decided !== counted) countIn(counted = guest.decided);
        return guest;
      }, job.candlesMin);
    };
    const repeating: TrialListener = { ...listener, attempt: (trial) => worlds.attempt(trial) };
    const makeGuest: MakeGuest = (script, json, series) => new ScriptGuest(script, json, series);
    if (job.kind === "script_trials") {
      const makeOrRefuse: MakeGuest = (...given) => orRefuse(() => makeGuest(...given));
      return runTrials(job, (json, ...held) => make(json, makeOrRefuse, ...held), repeating);
    }
    return runPaths(job, () => make(job.parametersJson, makeGuest, job.task.firstIndex), repeating);
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error;
    return { type: "failed", code: "STRATEGY_FAILED", message: `Cannot use the script: ${error.message}` };
  }
}

type MakeGuest = (script: CompiledScript, parametersJson: string, series: Series) => ScriptGuest;

/** @throws {PointRefused} When the script throws a RangeError at its creation. */
export function orRefuse<Made>(make: () => Made): Made {
  try {
    return make();
  } catch (error) {
    if (error instanceof RunError && REFUSAL.test(error.message)) throw new PointRefused(error.message);
    throw error;
  }
}

/** A check that goes on. */
interface Checking extends Pick<ScriptWatch, "countIn"> {
  /** Receives the first instance. */
  readonly guests: RealmGuest[];
  /** The check of scripts that decide on many markets; null: it is none. */
  readonly portfolios: typeof import("./check_portfolio.ts") | null;
}

function check(
  job: ScriptCheckJob,
  script: CompiledScript,
  { guests, portfolios, countIn }: Checking,
): Outcome<ValidScript> {
  if (portfolios !== null && isPortfolio(job.source, script)) {
    guests.length = 0;
    const keep = (guest: RealmGuest) => guests.length > 0 || guests.push(guest);
    const peeksOf = () => portfolios.peeksOfPortfolioCheck(job, script);
    const report = orUnknown(() => portfolios.runPortfolioScriptDry(job, script, keep), peeksOf);
    return endCheck(guests, report, peeksOf);
  }
  const makeGuest = makingGuests(guests, () => {
    const guest = new ScriptGuest(script, job.parametersJson, SAMPLE_SERIES);
    countIn(guest.decided);
    return guest;
  });
  const peeksOf = () => peeksOfCheck(job, script);
  const report = orUnknown(() => runDry(new ScriptStrategy(makeGuest, job.candlesMin)), peeksOf);
  return endCheck(guests, report, peeksOf);
}

/** Runs a check. Where `undefined` ends it, the name of the member that was read in its cause says more. */
function orUnknown(runDry: () => DryRun, peeksOf: () => readonly string[]): DryRun {
  try {
    return runDry();
  } catch (error) {
    if (error instanceof RunError && /\bTypeError: .*(?:undefined|not a function|not iterable)/.test(error.message)) {
      peeksOf();
    }
    throw error;
  }
}

/** @param peeksOf Runs the script once more, in place of the first instance. */
function endCheck(guests: RealmGuest[], report: DryRun, peeksOf: () => readonly string[]): Outcome<ValidScript> {
  const parameterSchema = guests[0]?.declaredParameters() ?? null;
  const log = logOf(guests);
  guests.length = 0;
  const peeks = peeksOf();
  return { type: "completed", report: { ...report, notes: [...report.notes, ...peeks] }, log, parameterSchema };
}

/** Makes a guest for each simulation, and keeps the first: later ones repeat what it logs, and their memory is needed. */
function makingGuests<Guest extends RealmGuest>(
  guests: RealmGuest[],
  make: (isFirst: boolean) => Guest,
): () => Guest {
  guests.length = 0;
  return () => {
    const isFirst = guests.length === 0;
    const guest = make(isFirst);
    if (isFirst) guests.push(guest);
    return guest;
  };
}

/** @param guests Receives the first instance. */
function backtest(
  job: ScriptJob,
  script: CompiledScript,
  { control, report, countIn, guests }: ScriptWatch & { readonly guests: RealmGuest[] },
): Outcome<SandboxRun> | LookbackRequest {
  const { candles, firstIndex, seed, ...settings } = job.task;
  const makeGuest = makingGuests(guests, (isFirst) => {
    const guest = new ScriptGuest(script, job.parametersJson, seriesOf(job.task), isFirst ? report : null);
    countIn(guest.decided);
    return guest;
  });
  // A function of its own, because the first instance must be gone before the next one is made.
  const runFirst = (): RunResult | LookbackRequest => {
    const strategy = new ScriptStrategy(makeGuest, job.candlesMin);
    return requestLookback(job, strategy.warmup) ?? run({ ...settings, firstIndex, candles, strategy, control });
  };
  const result = runFirst();
  if ("type" in result) return result;
  const log = logOf(guests);
  const plots = guests[0]?.plots(candles.time.length) ?? [];
  const checkIn = (open: CompiledScript["open"]): Integrity => {
    const repeated = { ...script, open };
    const again = (until: number) => {
      const makeGuest = () => {
        const guest = new ScriptGuest(repeated, job.parametersJson, seriesOf(job.task));
        countIn(guest.decided);
        return guest;
      };
      const strategy = new ScriptStrategy(makeGuest, job.candlesMin);
      return repeat({ ...settings, firstIndex, candles: viewCandles(candles, 0, until), strategy, control: null });
    };
    return checkIntegrity(again, { result, time: candles.time, close: candles.close, firstIndex, seed });
  };
  const integrity = checkQuickly(script, checkIn) ?? checkIn(script.open);
  const notes = peeksOfRun(job, script);
  const noted = notes.length === 0 ? result : { ...result, notes: [...result.notes, ...notes] };
  return { type: "completed", result: noted, integrity, log, plots };
}

/** The check in a world that lasts, which takes a tenth of the time; null where it does not pass there: a script may depend on a new one. */
function checkQuickly(
  { openAgain }: CompiledScript,
  checkIn: (open: CompiledScript["open"]) => Integrity,
): Integrity | null {
  if (openAgain === undefined) return null;
  try {
    const integrity = checkIn(openAgain);
    return [integrity.lookahead, integrity.determinism].some(({ status }) => status === "failed") ? null : integrity;
  } catch (error) {
    if (error instanceof RunError) return null;
    throw error;
  }
}

function logOf([first]: readonly RealmGuest[]): readonly string[] {
  return first?.log() ?? [];
}

function stackOf([first]: readonly RealmGuest[]): readonly string[] {
  return first?.stack ?? [];
}

/** Plots of a run that failed; none from a broken realm. */
function plotsOfFailure({ task: { candles } }: ScriptJob, [first]: readonly RealmGuest[]): readonly Plot[] {
  try {
    return first?.plots(candles.time.length) ?? [];
  } catch (error) {
    if (error instanceof RunError) return [];
    throw error;
  }
}
