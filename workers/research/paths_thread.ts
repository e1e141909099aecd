import { askToStop, createControl, readProgress } from "../../engine/control.ts";
import { NOT_BEGUN, type Outcome } from "../outcome.ts";
import { countPaths, type MadePaths, type PathsTask, type ToPathsWorker } from "../sandbox/paths_task.ts";

// A thread looks at its stop flag before each path; the longest takes about a tenth of a second.
const GRACE_MS = 2000;
const PROGRESS_MS = 250;

/** The limits of a task, and its listener. */
export interface PathsLimits {
  /** Computing time. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Called up to four times a second with the share of the paths that are done. */
  readonly onProgress: (progress: number) => void;
}

/** Makes the paths of a task in a thread of its own, which has no permissions and ends with the task. Never rejects. */
export async function makePaths(task: PathsTask, limits: PathsLimits): Promise<Outcome<MadePaths>> {
  if (limits.signal.aborted) return NOT_BEGUN;
  const control = createControl();
  const ended = Promise.withResolvers<Outcome<MadePaths>>();
  const worker = new Worker(new URL("../sandbox/builtin_paths.ts", import.meta.url), {
    type: "module",
    name: "hindcast-paths",
    deno: { permissions: "none" },
  });
  worker.onmessage = ({ data }: MessageEvent<Outcome<MadePaths>>) => ended.resolve(data);
  worker.onerror = (event) => {
    // An unhandled error would end this whole process.
    event.preventDefault();
    ended.resolve({ type: "broken", message: event.message });
  };
  worker.onmessageerror = () => ended.resolve({ type: "broken", message: "its answer could not be read" });
  let isLate = false;
  let grace: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    askToStop(control);
    grace ??= setTimeout(() => ended.resolve({ type: "broken", message: "it did not stop" }), GRACE_MS);
  };
  const deadline = setTimeout(() => {
    isLate = true;
    stop();
  }, limits.deadlineMs);
  const doneNow = () => readProgress(control)?.candlesDone ?? 0;
  const progress = setInterval(() => limits.onProgress(doneNow() / countPaths(task)), PROGRESS_MS);
  limits.signal.addEventListener("abort", stop);
  try {
    worker.postMessage({ task, control } satisfies ToPathsWorker);
    const outcome = await ended.promise;
    return isLate && outcome.type === "stopped" ? timedOut(task, limits.deadlineMs, doneNow()) : outcome;
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
    clearInterval(progress);
    limits.signal.removeEventListener("abort", stop);
    worker.terminate();
  }
}

function timedOut(task: PathsTask, deadlineMs: number, done: number): Outcome<MadePaths> {
  const message = `Cannot finish within ${deadlineMs / 1000} s: ${done} of ${countPaths(task)} paths were done; ` +
    "ask for fewer runs";
  return { type: "failed", code: "STRATEGY_TIMED_OUT", message };
}
