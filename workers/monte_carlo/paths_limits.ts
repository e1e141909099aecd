import type { Failed, Outcome } from "../common/outcome.ts";
import type { MadePaths } from "../sandbox/paths_task.ts";

const PROGRESS_MS = 250;

/** The limits of a task of paths, and its listener. */
export interface PathsLimits {
  /** Computing time of all paths. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called up to four times a second with the share of the paths that are done. */
  readonly onProgress: (progress: number) => void;
}

/** The work that limits hold for. */
interface LimitedPaths {
  /** All of them. */
  readonly count: number;
  readonly countDone: () => number;
  /** Makes them. @param stop Ends it early, at most a second later. */
  readonly make: (stop: AbortSignal) => Promise<Outcome<MadePaths>>;
}

/** Makes paths within limits: reports their progress, and stops them when they are late. */
export async function makeWithin(
  { deadlineMs, signal, onProgress }: PathsLimits,
  { count, countDone, make }: LimitedPaths,
): Promise<Outcome<MadePaths>> {
  const late = new AbortController();
  const deadline = setTimeout(() => late.abort(), deadlineMs);
  const progress = setInterval(() => onProgress(countDone() / count), PROGRESS_MS);
  try {
    const outcome = await make(AbortSignal.any([signal, late.signal]));
    const isLate = outcome.type === "stopped" && late.signal.aborted && !signal.aborted;
    return isLate ? timedOut(deadlineMs, countDone(), count) : outcome;
  } finally {
    clearTimeout(deadline);
    clearInterval(progress);
  }
}

function timedOut(deadlineMs: number, done: number, count: number): Failed {
  const message = `Cannot finish within ${
    deadlineMs / 1000
  } s: ${done} of ${count} paths were done; ask for fewer runs`;
  return { type: "failed", code: "STRATEGY_TIMED_OUT", message };
}
