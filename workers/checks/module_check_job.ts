import { getLogger } from "@logtape/logtape";
import type { Db } from "../../db/client.ts";
import { type ModuleCheck, readCheck, storeVerdict, type Verdict } from "../../db/module_checks.ts";
import { MODULE_BYTES_MAX, validateModule, validateScript } from "./conformance.ts";
import type { EgressRules } from "../egress/guard.ts";
import { fetchGuarded } from "../egress/fetch.ts";
import type { Jobs, TakenJob } from "../jobs/jobs.ts";
import { QUEUES } from "../jobs/queues.ts";
import { type Outcome, RunError, type Stopped } from "../common/outcome.ts";
import { isJitless, refuseScript, type ScriptModes } from "../scripts/script_mode.ts";
import type { SandboxLimits } from "../sandbox/sandbox_limits.ts";
import type { Spares } from "../sandbox/spares.ts";
import type { Fetched, ScriptLanguage, ValidModule, ValidScript } from "../sandbox/task.ts";

const log = getLogger(["hindcast", "queue"]);

const FETCH_MS_MAX = 8000;
// Its own last words may have paths of this machine: they are in the log.
const BROKEN = "Cannot check the code: the process of its check ended twice without a verdict, and the log says how";

const BUSY: Verdict = {
  accepted: false,
  code: "UNAVAILABLE",
  message: "Cannot check the code now: this machine is too busy to finish the check; try again later",
};

interface CheckServices {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly egress: EgressRules;
  readonly scripts: ScriptModes;
  /** Processes for users' code. Absent: each check starts its own. */
  readonly spares?: Spares | undefined;
}

/** Checks a module before its registration: fetches it if it is a URL, then validates it in a sandbox process. */
export async function runModuleCheckJob(services: CheckServices, job: TakenJob, signal: AbortSignal): Promise<void> {
  const { db, jobs } = services;
  try {
    const check = await readCheck(db, job.id);
    // The request may have given up.
    if (check !== null && !await judge(services, check, signal)) {
      return await db.transaction((tx: Db) => jobs.giveBack(tx, QUEUES.checks, job));
    }
    await jobs.changes.notify(db, [`check ${job.id}`]);
  } catch (error) {
    // No second attempt: the request answers that no worker was available, and the client retries.
    log.error("Cannot check the module of check {id}: {error}", { id: job.id, error });
  }
  await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.checks, [job]));
}

/** @returns True if it came to a verdict before the signal was aborted. */
async function judge(
  { db, egress, scripts, spares }: CheckServices,
  check: ModuleCheck,
  signal: AbortSignal,
): Promise<boolean> {
  let data = check.data;
  if (data === null) {
    const fetched = await onceMore(check, () => fetchModule(check, egress, signal));
    if (fetched.type === "stopped") return false;
    if (fetched.type !== "completed") {
      await storeVerdict(db, check.id, verdictOf(fetched), null);
      return true;
    }
    data = fetched.body;
  }
  const checked = data;
  const outcome = await onceMore(
    check,
    (): Promise<Outcome<ValidScript | ValidModule>> =>
      check.format === "wasm"
        ? validateModule(checked, check.parameters, { signal, spares })
        : checkScript(scripts, languageOf(check), new TextDecoder().decode(checked), check.parameters, {
          signal,
          spares,
        }),
  );
  if (outcome.type === "stopped" && signal.aborted) return false;
  await storeVerdict(db, check.id, outcome.type === "stopped" ? BUSY : verdictOf(outcome), data);
  return true;
}

function languageOf({ format }: ModuleCheck): ScriptLanguage {
  return format === "python" ? "python" : "typescript";
}

async function checkScript(
  modes: ScriptModes,
  language: ScriptLanguage,
  source: string,
  parameters: ModuleCheck["parameters"],
  within: Pick<SandboxLimits, "signal" | "spares">,
): Promise<Outcome<ValidScript>> {
  const refused = await refuseScript(modes, language);
  const script = { source, language, parameters };
  return refused?.outcome ?? await validateScript(script, { ...within, jitless: isJitless(modes, language) });
}

async function fetchModule(check: ModuleCheck, egress: EgressRules, signal: AbortSignal): Promise<Outcome<Fetched>> {
  const limits = { timeoutMs: FETCH_MS_MAX, bytesMax: MODULE_BYTES_MAX, signal };
  try {
    return await fetchGuarded(check.moduleUrl ?? "", egress, limits);
  } catch (error) {
    if (error instanceof RunError) return error.outcome;
    throw error;
  }
}

/** Starts another process where the first one broke: the system may have ended it for others' memory. */
async function onceMore<Value extends object>(
  { id }: ModuleCheck,
  work: () => Promise<Outcome<Value>>,
): Promise<Outcome<Value>> {
  const outcome = await work();
  if (outcome.type !== "broken") return outcome;
  log.warn("The process of check {id} broke, and another one is started: {reason}", { id, reason: outcome.message });
  const again = await work();
  if (again.type === "broken") {
    log.error("The process of check {id} broke again: {reason}", { id, reason: again.message });
  }
  return again;
}

function verdictOf(outcome: Exclude<Outcome<ValidScript | ValidModule | Fetched>, Stopped>): Verdict {
  if (outcome.type === "completed") {
    const declared = "parameterSchema" in outcome ? outcome.parameterSchema : null;
    const decidesOn = "report" in outcome ? outcome.report.decidesOn : undefined;
    return {
      accepted: true,
      ...(declared !== null && { parameterSchema: declared }),
      ...(decidesOn !== undefined && { decidesOn }),
    };
  }
  if (outcome.type === "failed") return { accepted: false, code: outcome.code, message: outcome.message };
  return { accepted: false, code: "UNAVAILABLE", message: BROKEN };
}
