import type { RunProgress } from "../../engine/control.ts";
import { candleBytes, type ChildLimits, type PathOutcome, type SandboxJob, type TrialOutcome } from "./task.ts";

/** The limits of a job, and its listener. */
export interface SandboxLimits {
  /** From the moment in which the process has begun to its answer; of trials and paths, from the end of one to the end of the next. */
  readonly deadlineMs: number;
  /**
   * Ends the job sooner, once it has computed for so long both by the clock and in processor time. If it has had less than half of that
   * at its deadline, it ends as `stopped`: the machine was too busy. One whose last decision took a twentieth ends as too late.
   */
  readonly cpuMsMax?: number;
  /** Resident memory of the process, beside the run's candles. */
  readonly memoryBytesMax: number;
  /** Called a few times a second while the job computes. */
  readonly onProgress: (progress: RunProgress) => void;
  /** Ends the job at any moment. */
  readonly signal: AbortSignal;
  /**
   * Loads the job again with more candles before the range, at most once. Its error is that of the job. Absent: the job cannot ask
   * for more.
   */
  readonly reload?: (lookbackCandles: number) => Promise<SandboxJob>;
  readonly onTrial?: (outcome: TrialOutcome) => void;
  /** Called with each path that has ended, in order. */
  readonly onPath?: (outcome: PathOutcome) => void;
  /** Of all its paths together; the caller's signal ends the process then. */
  readonly pathsMs?: number;
  /** The only address, `ip:port`, that the job may call; null: none. */
  readonly address?: string | null;
  /** Runs it without V8's compilers, which also takes WebAssembly away; default: no. */
  readonly jitless?: boolean;
  /** Processes that wait for a job like this one. Absent: it starts its own. */
  readonly spares?: SpareProcesses | undefined;
}

/** Starts the processes of jobs before there is one. */
export interface SpareProcesses {
  /** Starts the process of a job, or takes one that waits. @throws When it cannot be started. */
  start(job: SandboxJob, limits: SandboxLimits): Deno.ChildProcess;
  /** Starts a process for the next job of this kind, once the caller has done what follows on the end of this one. */
  renew(job: SandboxJob, limits: SandboxLimits): void;
  /** Takes over the wait for a killed process whose job has completed: the memory of one takes 20 ms to go. */
  leave(gone: Promise<void>): Promise<void>;
}

// The trials before the last one.
const SLICE_SECONDS_MAX = 10;

/** The limits that the process itself watches. */
export function childLimits(
  { memoryBytesMax, deadlineMs, cpuMsMax, onTrial, pathsMs = 0 }: SandboxLimits,
  job: SandboxJob,
): ChildLimits {
  const seconds = Math.ceil((deadlineMs + pathsMs) / 1000) + (onTrial === undefined ? 0 : SLICE_SECONDS_MAX);
  // Never reached while a parent lives.
  return {
    memoryBytesMax,
    candleBytes: candleBytes(job),
    countsCpuAtOnce: cpuMsMax !== undefined,
    cpuSecondsMax: seconds * navigator.hardwareConcurrency,
  };
}
