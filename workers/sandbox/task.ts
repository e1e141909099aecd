import type { RunProgress } from "../../engine/control.ts";
import type { MeasuredPath } from "../../research/monte_carlo/paths.ts";
import type { Failed, Outcome } from "../common/outcome.ts";
import { countInputCandles } from "./candle_series.ts";
import type { CarriedTests, SimulatedRun, TrialValues } from "../common/protocol.ts";
import type { PinnedEndpoint, RemoteTask } from "../common/remote_task.ts";
import {
  countCandles,
  type RemoteMarketsJob,
  type SandboxMarkets,
  type ScriptMarketsJob,
  type WasmMarketsJob,
} from "./markets_task.ts";
import type { ScriptLanguage } from "./contracts/layout.ts";
import type { Deciding, Marked } from "./decision_calls.ts";
import type { DryRun } from "./dry_report.ts";
import type { InterpreterCode } from "./interpreter_files.ts";
import type { CandlePathsTask } from "./paths_task.ts";
import type {
  AnyTrialsRun,
  SandboxTask,
  ScriptMarketsTrialsJob,
  ScriptTrialsJob,
  WasmMarketsTrialsJob,
  WasmTrialsJob,
} from "./trials_task.ts";

export type { DryRun, SandboxMarkets, SandboxTask, ScriptLanguage, ScriptMarketsJob, WasmMarketsJob };

/** Resident memory of a sandbox process, beside its candles. */
export const SANDBOX_BYTES_MAX = 512 * 2 ** 20;
// Six columns of the input and two of the result are ours. A module's own copies count as the module's.
const CANDLE_BYTES = 8 * 8;
// Paths are made of four columns of factors and one of indexes, in five columns.
const PATH_CANDLE_BYTES = 8 * 10;

/** The first argument of the child process: the kind of its jobs, or `python` for those of a script in Python. */
export type SandboxKind = SandboxJob["kind"] | "python";

/** The process that a job needs. */
export function kindOf(job: SandboxJob): SandboxKind {
  return "language" in job && job.language === "python" ? "python" : job.kind;
}

/** The work of a sandbox process. */
export type SandboxJob =
  | ValidateJob
  | WasmJob
  | WasmTrialsJob
  | WasmPathsJob
  | WasmMarketsJob
  | WasmMarketsTrialsJob
  | ScriptCheckJob
  | ScriptJob
  | ScriptTrialsJob
  | ScriptPathsJob
  | ScriptMarketsJob
  | ScriptMarketsTrialsJob
  | RemoteJob
  | RemoteMarketsJob
  | FetchJob;

/** Bytes of a job's candles and curves in its process: a long run leaves its strategy as much memory as a short one. */
export function candleBytes(job: SandboxJob): number {
  if (!("task" in job)) return 0;
  if ("markets" in job.task) return countCandles(job.task) * CANDLE_BYTES;
  const { candles, finer } = job.task;
  const pathBytes = "pathSeed" in job ? candles.time.length * PATH_CANDLE_BYTES : 0;
  return (candles.time.length + (finer?.time.length ?? 0) + countInputCandles(job.task)) * CANDLE_BYTES + pathBytes;
}

/** Checks whether a module may be registered: its structure, and a dry run over sample candles. */
export interface ValidateJob {
  readonly kind: "validate";
  readonly module: Uint8Array;
  /** The strategy's own, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
}

/** The settings of a backtest of a user's code. */
interface CodeRun {
  readonly task: SandboxTask;
  /** Candles that the caller wanted before the range; null: it cannot load more than the task has. */
  readonly lookbackWanted: number | null;
}

/** A backtest of a module. */
export interface WasmJob extends CodeRun {
  readonly kind: "run";
  readonly module: Uint8Array;
  /** The strategy's own, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
}

/** Checks whether a script may be registered: its text, and a dry run over sample candles. */
export interface ScriptCheckJob extends Marked {
  readonly kind: "check_script";
  readonly source: string;
  /** Of the source. */
  readonly language: ScriptLanguage;
  /** The strategy's own, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
}

/** A backtest of a script. */
export interface ScriptJob extends Omit<ScriptCheckJob, "kind">, CodeRun {
  readonly kind: "script";
}

/** Runs of a user's code on paths of candles, one after the other in one process. */
export interface PathsRun extends CandlePathsTask {
  /** The strategy's own parameters, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
}

/** Runs of a module on paths. */
export interface WasmPathsJob extends PathsRun {
  readonly kind: "run_paths";
  readonly module: Uint8Array;
}

export interface ScriptPathsJob extends PathsRun {
  readonly kind: "script_paths";
  readonly source: string;
  /** Of the source. */
  readonly language: ScriptLanguage;
}

/** The end of a run on a path. */
export type PathOutcome = (MeasuredPath & { readonly type: "completed" }) | Failed;

/** The end of a trial; `marks` where others take over its account. The strategy itself refused the point when it was made: it is no trial. */
export type TrialOutcome =
  | (TrialValues & { readonly type: "completed"; readonly marks?: CarriedTests["marks"] })
  | Failed
  | { readonly type: "refused" };

/** A backtest of an endpoint; the process and its Worker may call the endpoint's address. */
interface RemoteJob {
  readonly kind: "remote";
  readonly task: RemoteTask;
}

/** Gets what an address answers; the process and its Worker may call that address alone. */
export interface FetchJob {
  readonly kind: "fetch";
  readonly endpoint: PinnedEndpoint;
  /** For the whole answer. */
  readonly timeoutMs: number;
  /** Of the body. */
  readonly bytesMax: number;
}

/** Facts about a module that may be registered. */
interface ModuleReport extends DryRun {
  readonly abiVersion: number;
  readonly memoryBytesMin: number;
  readonly memoryBytesMax: number;
}

/** The value of a script that may be registered. */
export interface ValidScript {
  readonly report: DryRun;
  /** Lines that the script logged in its dry run. */
  readonly log: readonly string[];
  /** The parameters that its class declares; null where its language has no such thing. */
  readonly parameterSchema: object | null;
}

/** The value of a module that may be registered. */
export interface ValidModule {
  readonly report: ModuleReport;
  /** Lines that the module logged in its dry run. */
  readonly log: readonly string[];
}

/** The value of a run in a process of its own. */
export interface SandboxRun extends SimulatedRun {
  /** Lines that the strategy logged. */
  readonly log: readonly string[];
}

/** The value of a fetch that was answered with status 200. */
export interface Fetched {
  readonly body: Uint8Array;
}

/** The value of a job that completes. Trials and paths have been reported one by one. */
export type ValueOf<Job extends SandboxJob> = Job extends ValidateJob ? ValidModule
  : Job extends AnyTrialsRun | PathsRun ? object
  : Job extends ScriptCheckJob ? ValidScript
  : Job extends FetchJob ? Fetched
  : Job extends WasmMarketsJob | ScriptMarketsJob | RemoteMarketsJob ? SandboxMarkets
  : SandboxRun;

/** The limits that a sandbox process watches and has the system watch; its second argument, as JSON. */
export interface ChildLimits {
  /** Resident memory, beside the candles of its jobs. */
  readonly memoryBytesMax: number;
  /** The bytes of candles for which the system leaves room. */
  readonly candleBytes: number;
  /** True: it reports the processor time that it has taken from its start on; false: after its first second, so that it starts sooner. */
  readonly countsCpuAtOnce: boolean;
  /** Time of all processors together. */
  readonly cpuSecondsMax: number;
}

/** True if memory is within its limit. The runtime reports 0 when it cannot tell; that counts as beyond. */
export function isWithin(residentBytes: number, bytesMax: number): boolean {
  return residentBytes > 0 && residentBytes <= bytesMax;
}

/** How often a process may ask for more candles. A trial asks for more than it wants, since longer warm-ups may follow. */
export const RELOADS_MAX = 4;

/** The strategy's warm-up is longer than its candles before the range: a job with `candles` of them continues the run. */
export interface LookbackRequest {
  readonly type: "lookback";
  readonly candles: number;
}

/** The request of a strategy that has just been made; null if its job has the candles, or cannot have more. */
export function requestLookback(
  { lookbackWanted }: Pick<CodeRun, "lookbackWanted">,
  warmup: number,
): LookbackRequest | null {
  if (lookbackWanted === null || warmup <= lookbackWanted) return null;
  return { type: "lookback", candles: warmup };
}

/** Lines that a run's strategy has logged, from a line on. Its answer has them all: of a run that is killed, these are left. */
export interface LoggedLines {
  readonly type: "log";
  /** Number of the first line; later ones that were reported before are void. */
  readonly from: number;
  readonly lines: readonly string[];
}

/** The messages of a sandbox process, one frame each; an outcome is the last. */
export type FromChild<Value extends object> =
  | { readonly type: "memory"; readonly residentBytes: number; readonly cpuMs: number }
  /** `decided`: candles of the range that code has decided on; 0 for an endpoint. */
  | ({ readonly type: "progress"; readonly decided: number; readonly deciding: Deciding } & RunProgress)
  | LookbackRequest
  | LoggedLines
  | { readonly type: "trial"; readonly outcome: TrialOutcome }
  | { readonly type: "path"; readonly outcome: PathOutcome }
  | Outcome<Value>;

/** The first message to a Worker for Python, before its job. */
export interface InterpreterMessage {
  readonly interpreter: InterpreterCode;
}

/** The message to a child's Worker. It answers with the pieces of a frame, an outcome. `control` is shared memory, see engine/control.ts. */
export interface ToChildWorker {
  readonly job: SandboxJob;
  readonly control: Int32Array;
}

/**
 * A message of that Worker: the pieces of a frame, a word in shared memory that counts the candles that code has decided on, or one that
 * counts its calls (decision_calls.ts).
 */
export type FromChildWorker = readonly Uint8Array[] | SharedArrayBuffer | { readonly calls: SharedArrayBuffer };
