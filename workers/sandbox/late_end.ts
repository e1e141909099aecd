/** Finds the line at which a script goes on for ever, once it was ended for it. */
import type { Outcome } from "../common/outcome.ts";
import { SCRIPT_FILE } from "./contracts/layout.ts";
import { readPlace } from "./contracts/places.ts";
import { DECISION_MS_MIN } from "./decision_watch.ts";
import type { SandboxLimits } from "./sandbox_limits.ts";
import type { SandboxJob } from "./task.ts";

/** An interpreter that was asked to stop has so long to say where it was. */
export const INTERRUPT_MS_MAX = 2_000;
/** A second run, which only looks for a place. */
const MARKED_MS_MAX = 30_000;
/** Less is not worth a process. */
const MARKED_MS_MIN = 1_500;
/** A place, before the market where a run has many. */
const PLACE = /( at (?:[^()]* \()?strategy\.py:\d+(?::\d+)?\)?)(?: \(in .*\))?$/;

/** True for a job that is one run of one script: of many, the others go on. */
function isOneRun(
  job: SandboxJob,
): job is Extract<SandboxJob, { readonly kind: "script" | "check_script" | "script_markets" }> {
  return job.kind === "script" || job.kind === "check_script" || job.kind === "script_markets";
}

/** True for a job whose code stops where it is when it is asked to. */
export function canInterrupt(job: SandboxJob): boolean {
  return isOneRun(job) && job.language === "python";
}

/** The end of code that was asked to stop: too late, at its place where it says one. */
export function endInterrupted<Value extends object>(outcome: Outcome<Value>, late: string): Outcome<Value> {
  if (outcome.type === "stopped") return outcome;
  const ended = { type: "failed", code: "STRATEGY_TIMED_OUT", message: late } as const;
  if (outcome.type !== "failed") return ended;
  return { ...outcome, ...ended, message: late + (PLACE.exec(outcome.message)?.[1] ?? "") };
}

/** The job of a script that took too long, to be run again with marks; null where there are none, or no time is left. */
export function markJob(
  job: SandboxJob,
  limits: SandboxLimits,
  spentMs: number,
): { readonly job: SandboxJob; readonly limits: SandboxLimits } | null {
  if (!isOneRun(job) || job.language === "python" || limits.signal.aborted) return null;
  // A check has a caller who waits for it.
  const isCheck = job.kind === "check_script";
  const deadlineMs = Math.min(MARKED_MS_MAX, isCheck ? limits.deadlineMs - spentMs : spentMs + 2 * DECISION_MS_MIN);
  if (deadlineMs < MARKED_MS_MIN) return null;
  const { reload: _reload, spares: _spares, ...kept } = limits;
  const marked = { ...kept, deadlineMs, onProgress: () => {}, ...(isCheck && { cpuMsMax: MARKED_MS_MIN }) };
  return { job: { ...job, isMarked: true }, limits: marked };
}

/** A place, as the rest of a sentence; empty for a mark that is none. */
export function describePlace(mark: number): string {
  return mark === 0 ? "" : ` at ${SCRIPT_FILE}:${readPlace(mark)}`;
}
