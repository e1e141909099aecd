import { askToStop, createControl, readProgress } from "../../engine/control.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import { countPaths, type MadePaths, type PathsTask, type ToPathsWorker } from "../sandbox/paths_task.ts";
import { makeWithin, type PathsLimits } from "./paths_limits.ts";

// A thread looks at its stop flag before each path; the longest takes about a tenth of a second.
const GRACE_MS = 2000;

/** Makes the paths of a task in a thread of its own, which has no permissions and ends with the task. Never rejects. */
export async function makePaths(task: PathsTask, limits: PathsLimits): Promise<Outcome<MadePaths>> {
  const control = createControl();
  return await makeWithin(limits, {
    count: countPaths(task),
    countDone: () => readProgress(control)?.candlesDone ?? 0,
    make: (stop) => makeInThread({ task, control }, stop),
  });
}

async function makeInThread(message: ToPathsWorker, stop: AbortSignal): Promise<Outcome<MadePaths>> {
  if (stop.aborted) return NOT_BEGUN;
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
  let grace: ReturnType<typeof setTimeout> | undefined;
  const halt = () => {
    askToStop(message.control);
    grace = setTimeout(() => ended.resolve({ type: "broken", message: "it did not stop" }), GRACE_MS);
  };
  stop.addEventListener("abort", halt, { once: true });
  try {
    worker.postMessage(message);
    return await ended.promise;
  } finally {
    clearTimeout(grace);
    stop.removeEventListener("abort", halt);
    worker.terminate();
  }
}
