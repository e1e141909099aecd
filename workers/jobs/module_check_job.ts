import { getLogger } from "@logtape/logtape";
import type { Db } from "../../db/client.ts";
import { type ModuleCheck, readCheck, storeVerdict, type Verdict } from "../../db/module_checks.ts";
import { MODULE_BYTES_MAX, validateModule } from "../sandbox/conformance.ts";
import type { EgressRules } from "../egress/guard.ts";
import { fetchGuarded } from "../egress/fetch.ts";
import { type Jobs, QUEUES, type TakenJob } from "./jobs.ts";
import { RunError } from "../outcome.ts";

const log = getLogger(["hindcast", "queue"]);

const FETCH_MS_MAX = 8000;

/** The services of a module check. */
export interface CheckServices {
  readonly db: Db;
  readonly jobs: Jobs;
  readonly egress: EgressRules;
}

/** Checks a module before its registration: fetches it if it is a URL, then validates it in a sandbox process. */
export async function runModuleCheckJob(services: CheckServices, job: TakenJob, signal: AbortSignal): Promise<void> {
  const { db, jobs } = services;
  try {
    const check = await readCheck(db, job.id);
    // The request may have given up.
    if (check !== null) await judge(services, check, signal);
  } catch (error) {
    // No second attempt: the request answers that no worker was available, and the client retries.
    log.error("Cannot check the module of check {id}: {error}", { id: job.id, error });
  }
  await db.transaction((tx: Db) => jobs.complete(tx, QUEUES.checks, [job]));
}

async function judge({ db, egress }: CheckServices, check: ModuleCheck, signal: AbortSignal): Promise<void> {
  let data = check.data;
  try {
    data ??= await fetchModule(check, egress, signal);
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return await storeVerdict(db, check.id, { accepted: false, code: error.code, message: error.message }, null);
  }
  const verdict = await validate(data, check, signal);
  if (verdict !== null) await storeVerdict(db, check.id, verdict, data);
}

async function fetchModule(check: ModuleCheck, egress: EgressRules, signal: AbortSignal): Promise<Uint8Array> {
  const limits = { timeoutMs: FETCH_MS_MAX, bytesMax: MODULE_BYTES_MAX, signal };
  return await fetchGuarded(check.moduleUrl ?? "", egress, limits);
}

/** Null when there is no verdict, because the worker is closing. */
async function validate(module: Uint8Array, check: ModuleCheck, signal: AbortSignal): Promise<Verdict | null> {
  const outcome = await validateModule(module, check.parameters, signal);
  if (outcome.type === "completed") return { accepted: true };
  if (outcome.type === "failed") return { accepted: false, code: outcome.code, message: outcome.message };
  if (outcome.type === "stopped") return null;
  throw new Error(`The sandbox broke: ${outcome.message}`);
}
