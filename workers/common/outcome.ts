import type { EncodedSeries, MarketPlot, Plot } from "../../db/codec/plots_part.ts";

/** Codes of a failed backtest, which its owner can mend: trying again without a change would fail again. */
export const RUN_FAILURE_CODES = [
  "NO_DATA",
  "RANGE_TOO_LARGE",
  "STRATEGY_FAILED",
  "STRATEGY_TIMED_OUT",
  "STRATEGY_OUT_OF_MEMORY",
  "INVALID_SIGNAL",
  "ENDPOINT_FAILED",
  "ENDPOINT_NOT_ALLOWED",
  "SCRIPTS_NOT_ALLOWED",
  "PYTHON_NOT_READY",
  "PROVIDER_FAILED",
  "PROVIDER_RATE_LIMITED",
  "QUOTA_EXCEEDED",
] as const;

/** Codes of a failed optimization beside those: no point is a trial, or its candles were revised while it ran. */
const OPTIMIZATION_FAILURE_CODES = ["NO_TRIALS", "DATA_CHANGED"] as const;

/** INVALID_MODULE and INVALID_SCRIPT are verdicts of a check before registration. */
export type FailureCode =
  | (typeof RUN_FAILURE_CODES)[number]
  | (typeof OPTIMIZATION_FAILURE_CODES)[number]
  | "INVALID_MODULE"
  | "INVALID_SCRIPT";

/** The user's input or code is at fault: its owner reads code and message. */
export interface Failed {
  readonly type: "failed";
  readonly code: FailureCode;
  readonly message: string;
  /** Lines that the strategy logged, and the stack of its error. */
  readonly log?: readonly string[];
  /** The series that it plotted until then. */
  readonly plots?: readonly Plot[];
  /** The same of a run over many markets. */
  readonly marketPlots?: readonly MarketPlot[];
  /** The same, ready to be stored. */
  readonly series?: EncodedSeries;
}

/** The run ended early and may begin again: it was cancelled, its worker closes, or no worker became free. */
export interface Stopped {
  readonly type: "stopped";
  readonly candlesDone: number;
  /** How long no worker takes it; absent: the next one may at once. */
  readonly delaySeconds?: number;
}

/** The fault is ours; the message is for the log. The run is tried again, a few times. */
export interface Broken {
  readonly type: "broken";
  readonly message: string;
}

/** The end of a run with its value. */
export type Completed<Value extends object> = Value & { readonly type: "completed" };

/** How a run, or the check of a module, ends: threads, processes and the queue pass it on unchanged. */
export type Outcome<Value extends object> = Completed<Value> | Failed | Stopped | Broken;

/** The outcome of a run that was stopped before its first candle. */
export const NOT_BEGUN: Stopped = { type: "stopped", candlesDone: 0 };

/** The outcome of a run whose record this build cannot read: a worker of the newer build that wrote it may take it. */
export const LEFT_TO_NEWER: Stopped = { ...NOT_BEGUN, delaySeconds: 60 };

/**
 * Ends a run whose owner is over the storage quota.
 *
 * @param what What it would store. @throws {RunError} QUOTA_EXCEEDED
 */
export function requireStorage(
  what: string,
  { storedBytes, storedBytesMax }: { readonly storedBytes: number; readonly storedBytesMax: number },
): void {
  if (storedBytes <= storedBytesMax) return;
  throw new RunError(
    "QUOTA_EXCEEDED",
    `Cannot store ${what}: your backtests and optimizations have ${storedBytes} bytes with their results, ` +
      `and may have ${storedBytesMax}; delete some of them`,
  );
}

/** Ends the run in which it is thrown. */
export class RunError extends Error {
  override readonly name = "RunError";

  constructor(readonly code: FailureCode, message: string) {
    super(message);
  }

  get outcome(): Failed {
    return { type: "failed", code: this.code, message: this.message };
  }
}

/** The outcome of a run in which our own code threw. */
export function brokenBy(error: unknown): Broken {
  return { type: "broken", message: error instanceof Error ? error.stack ?? error.message : String(error) };
}

/** The `error` of a record whose attempts all broke. */
export const INTERNAL_ERROR = {
  code: "INTERNAL",
  message: "Cannot finish the run because of a fault of ours",
} as const;
