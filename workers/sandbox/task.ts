import type { RunProgress } from "../../engine/control.ts";
import type { Finding, Integrity } from "../../engine/result.ts";
import type { FromSandbox, RemoteTask, RunTask } from "../protocol.ts";

/** Resident memory of a sandbox process, besides what its run's candles take. */
export const SANDBOX_BYTES_MAX = 512 * 2 ** 20;
// Six columns that came, and two of the result: ours, whatever the strategy does. What a module has of them is its own.
const CANDLE_BYTES = 8 * 8;

/** What a process of its own is started for; the child's first argument. */
export type SandboxKind = SandboxJob["kind"];

/** What a sandbox process is given to do. */
export type SandboxJob = ValidateJob | WasmJob | RemoteJob;

/** Bytes that a job's candles and their curves take in its process, so that a long run leaves a strategy no less than a short one. */
export function candleBytes(job: SandboxJob): number {
  if (job.kind === "validate") return 0;
  const { candles, finer } = job.task;
  return (candles.time.length + (finer?.time.length ?? 0)) * CANDLE_BYTES;
}

/** Whether a module may be registered: its structure, and a dry run over sample candles. */
export interface ValidateJob {
  readonly kind: "validate";
  readonly module: Uint8Array;
  /** The strategy's own, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
}

/** A backtest of a module. */
export interface WasmJob {
  readonly kind: "run";
  readonly module: Uint8Array;
  /** The strategy's own, as JSON. */
  readonly parametersJson: string;
  /** No decision before this many candles. */
  readonly candlesMin: number;
  readonly task: SandboxTask;
}

/** A backtest of an endpoint; the process and its Worker may call the endpoint's address. */
export interface RemoteJob {
  readonly kind: "remote";
  readonly task: RemoteTask;
}

/** A run's candles and settings, whatever decides. */
export type SandboxTask = Omit<RunTask, "slug" | "parameters">;

/** Why a user's code has no result. */
export type SandboxFailureCode =
  | "ENDPOINT_FAILED"
  | "INVALID_MODULE"
  | "INVALID_SIGNAL"
  | "STRATEGY_FAILED"
  | "STRATEGY_OUT_OF_MEMORY"
  | "STRATEGY_TIMED_OUT";

/** What is known of a module that may be registered. */
export interface ModuleReport {
  readonly abiVersion: number;
  readonly memoryBytesMin: number;
  readonly memoryBytesMax: number;
  /** Candles that must have been seen before its first decision, with the given parameters. */
  readonly warmup: number;
  /** Of the dry run. */
  readonly candles: number;
  readonly orders: number;
  /** Whether the simulator refused any of them. */
  readonly refused: Finding;
  readonly nanosecondsPerCandle: number;
}

/** What the code inside says at the end. */
export type SandboxAnswer =
  | {
    readonly type: "done";
    readonly result: RunDone["result"];
    readonly integrity: Integrity;
    readonly log: readonly string[];
  }
  | { readonly type: "valid"; readonly report: ModuleReport; readonly log: readonly string[] }
  | { readonly type: "failed"; readonly code: SandboxFailureCode; readonly message: string }
  | { readonly type: "broken"; readonly message: string };

type RunDone = Extract<FromSandbox, { readonly type: "done" }>;

/** What a sandbox process says, one frame each: who it is, how far it is, and the answer. */
export type FromChild =
  | { readonly type: "hello"; readonly pid: number }
  | ({ readonly type: "progress" } & RunProgress)
  | SandboxAnswer;

/** What a child's Worker is given. `control` is shared memory, see engine/control.ts. */
export interface ToChildWorker {
  readonly job: SandboxJob;
  readonly control: Int32Array;
}
