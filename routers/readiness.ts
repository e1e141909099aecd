import { z } from "zod";
import { readSchemaState } from "../db/schema_version.ts";
import { objectStoreOf } from "../db/postgres_session.ts";
import { hasCode } from "../db/postgres/sql_states.ts";
import { explainRefusedWrite, probeWrite } from "../db/write_probe.ts";
import { CheckTimeout, sharing } from "./common/shared_check.ts";
import type { Context } from "./common/trpc.ts";

// A worker that restarts is away for seconds.
const WORKERLESS_MS_MAX = 60_000;
// A public route must not have the database written to all the time.
const HOLD_MS = 2_000;

const UNDEFINED_TABLE = "42P01";

const checkSchema = z.enum(["ok", "failed"]);

export const readinessSchema = z.object({
  status: checkSchema,
  checks: z.object({
    /** `failed` where nothing can be written. */
    database: checkSchema,
    queue: checkSchema,
    /** `newer`: another process has migrated; this one serves on, and takes no jobs. */
    schema: z.enum(["current", "newer", "older", "unknown"]),
    /** `none` where no process took backtests for a minute. */
    workers: z.enum(["alive", "none", "unknown"]),
  }),
  /** Why the status is `failed`. */
  reasons: z.array(z.string()),
  /** Facts that need somebody, while requests are served. */
  notes: z.array(z.string()),
});

type Readiness = z.infer<typeof readinessSchema>;

/** Tries everything that a process needs for all of its work. */
export async function findReadiness(ctx: Context): Promise<Readiness> {
  const [written, schema, workers, objects] = await Promise.all([
    checkWrite(ctx),
    checkSchemaState(ctx),
    checkWorkers(ctx),
    checkObjects(ctx),
  ]);
  const reasons: string[] = [];
  if (written instanceof Error) reasons.push(explain(written));
  if (workers instanceof Error) reasons.push("the queue does not answer");
  if (objects instanceof CheckTimeout) reasons.push("the object store does not answer in time");
  else if (objects instanceof Error) reasons.push(objects.message);
  const hasNone = schema instanceof Error && hasCode(schema, UNDEFINED_TABLE);
  if (schema === "older" || hasNone) {
    reasons.push("the database lacks migrations of this version, as after a restored backup: restart the process");
  }
  if (workers === "none") reasons.push("no process has taken backtests for a minute: start a worker");
  const notes = schema === "newer"
    ? ["a newer version has migrated the database: this process takes no jobs any more; restart it with that version"]
    : [];
  return {
    status: reasons.length === 0 ? "ok" : "failed",
    checks: {
      database: written instanceof Error ? "failed" : "ok",
      queue: workers instanceof Error ? "failed" : "ok",
      schema: hasNone ? "older" : schema instanceof Error ? "unknown" : schema,
      workers: workers instanceof Error ? "unknown" : workers,
    },
    reasons,
    notes,
  };
}

const checkWrite = sharing(({ db }) => probeWrite(db), HOLD_MS);
const checkObjects = sharing(async ({ db }) => await objectStoreOf(db)?.probe(), HOLD_MS);
const checkSchemaState = sharing(async ({ db }) => (await readSchemaState(db)).state);

/** When each process last saw a worker, its own start included. */
const seenMs = new WeakMap<object, number>();

const checkWorkers = sharing(async ({ queue, startedAt }): Promise<"alive" | "none"> => {
  const nowMs = performance.now();
  if ((await queue.check()).hasWorker) seenMs.set(queue, nowMs);
  return nowMs - (seenMs.get(queue) ?? startedAt) > WORKERLESS_MS_MAX ? "none" : "alive";
});

function explain(error: Error): string {
  return error instanceof CheckTimeout ? "the database does not answer in time" : explainRefusedWrite(error);
}
