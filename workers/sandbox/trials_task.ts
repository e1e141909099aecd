/** The jobs of a sandbox process that runs trials, one after the other. */
import type { Execution } from "../../engine/execution.ts";
import type { MarketsTask, RunTask } from "../common/protocol.ts";
import type { ScriptLanguage } from "./contracts/layout.ts";

/** A run's candles and settings. */
export type SandboxTask = Omit<RunTask, "slug" | "parameters">;

/** Trials of a user's code, one after the other in one process. */
interface TrialsOver<Task> {
  /** The strategy's own parameters of each, as JSON, in order. */
  readonly parametersJson: readonly string[];
  /** No decision before this many candles. */
  readonly candlesMin: number;
  /** With the longest lookback that was wanted. */
  readonly task: Task;
  /** The execution of each, in order; absent: that of the task. */
  readonly executions?: readonly Execution[];
  /** Candles before the range that each trial is shown, and that were wanted for the task; the archive may have fewer. */
  readonly lookback: number;
  readonly lookbackWanted: number;
  /** The process may ask for more candles. */
  readonly canReload: boolean;
  /** No trial but the first begins after `budgetMs`, or once those before it have kept `returnsMax` daily returns. */
  readonly budgetMs: number;
  readonly returnsMax: number;
}

export interface TrialsRun extends TrialsOver<SandboxTask> {
  /** Parameters that take over the account of the only trial, each from a moment on, milliseconds since 1970; absent: it is a trial like others. */
  readonly later?: readonly { readonly parametersJson: string; readonly fromMs: number }[];
}

/** Trials of which each is one account over many markets. */
export type MarketsTrialsRun = TrialsOver<MarketsTask>;

export type AnyTrialsRun = TrialsRun | MarketsTrialsRun;

interface Module {
  readonly module: Uint8Array;
}

interface Script {
  readonly source: string;
  /** Of the source. */
  readonly language: ScriptLanguage;
}

export interface WasmTrialsJob extends TrialsRun, Module {
  readonly kind: "run_trials";
}

export interface ScriptTrialsJob extends TrialsRun, Script {
  readonly kind: "script_trials";
}

export interface WasmMarketsTrialsJob extends MarketsTrialsRun, Module {
  readonly kind: "run_markets_trials";
}

export interface ScriptMarketsTrialsJob extends MarketsTrialsRun, Script {
  readonly kind: "script_markets_trials";
}
