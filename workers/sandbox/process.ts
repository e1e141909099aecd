import { DECISION_MS_MIN, decisionMsMax } from "./decision_watch.ts";
import { type FailureCode, NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import { countKill } from "../common/telemetry.ts";
import { describePlace, markJob } from "./late_end.ts";
import type { SandboxLimits } from "./sandbox_limits.ts";
import { describeError, SandboxProcess } from "./sandbox_process.ts";
import { startProcess } from "./spares.ts";
import type { SandboxJob, ValueOf } from "./task.ts";

export type { SandboxLimits } from "./sandbox_limits.ts";

/** Codes of the jobs that check a strategy before its registration. */
const VERDICTS: Partial<Record<SandboxJob["kind"], FailureCode>> = {
  validate: "INVALID_MODULE",
  check_script: "INVALID_SCRIPT",
};

/**
 * Does a job in a process of its own, which waited for it among the `spares` or is started now.
 *
 * Once it has settled, no process, thread, pipe or timer of the job is left; see SandboxProcess.run() for one of spare processes.
 *
 * @throws Nothing but the error of `reload`.
 */
export async function runInSandbox<Job extends SandboxJob>(
  job: Job,
  limits: SandboxLimits,
): Promise<Outcome<ValueOf<Job>>> {
  if (limits.signal.aborted) return NOT_BEGUN;
  const { spares } = limits;
  let child: Deno.ChildProcess;
  try {
    child = spares === undefined ? startProcess(job, limits) : spares.start(job, limits);
  } catch (error) {
    return { type: "broken", message: `its process did not start: ${describeError(error)}` };
  }
  let outcome: Outcome<ValueOf<Job>>;
  const begun = performance.now();
  const msMax = VERDICTS[job.kind] === undefined ? decisionMsMax(limits.deadlineMs) : Infinity;
  const process = new SandboxProcess<ValueOf<Job>>(child, job, limits, { decisionMsMax: msMax, countKill });
  try {
    outcome = await process.run();
  } finally {
    spares?.renew(job, limits);
  }
  if (outcome.type === "failed" && outcome.code === "STRATEGY_TIMED_OUT") {
    outcome = {
      ...outcome,
      message: outcome.message + await findPlace(process.job, limits, performance.now() - begun),
    };
  }
  const code = VERDICTS[job.kind];
  if (code === undefined || outcome.type !== "failed" || outcome.code === code) return outcome;
  const what = code === "INVALID_MODULE" ? "module" : "script";
  return { ...outcome, code, message: `Cannot use the ${what}: in its dry run: ${outcome.message}` };
}

/**
 * Runs a script again that never came to its end, with marks (script/mark_places.ts).
 *
 * @param spentMs Of the run before.
 * @returns Where it is, as the rest of a sentence; empty where that is not found.
 */
async function findPlace(job: SandboxJob, limits: SandboxLimits, spentMs: number): Promise<string> {
  const marked = markJob(job, limits, spentMs);
  if (marked === null) return "";
  let child: Deno.ChildProcess;
  try {
    child = startProcess(marked.job, marked.limits);
  } catch {
    return "";
  }
  const process = new SandboxProcess<object>(child, marked.job, marked.limits, {
    ...{ decisionMsMax: DECISION_MS_MIN, countKill },
  });
  const outcome = await process.run();
  const isLate = outcome.type === "stopped" || outcome.type === "failed" && outcome.code === "STRATEGY_TIMED_OUT";
  return isLate ? describePlace(process.place) : "";
}
