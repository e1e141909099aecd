import { sql } from "drizzle-orm";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import manifest from "../deno.json" with { type: "json" };
import { AppError } from "./common/errors.ts";
import { sharing } from "./common/shared_check.ts";
import { publicProcedure, router } from "./common/trpc.ts";
import { findReadiness, readinessSchema } from "./readiness.ts";

/** The service's version. */
export const VERSION = manifest.version;

const checkSchema = z.enum(["ok", "failed"]);

const healthSchema = z.object({
  status: checkSchema,
  version: z.string(),
  uptime_seconds: z.number(),
  checks: z.object({ database: checkSchema, queue: checkSchema }),
  /** True if any process takes backtests. Without one, backtests wait, but the API still works. */
  workers: z.enum(["alive", "none", "unknown"]),
});

const servingSchema = z.object({ status: z.literal("ok") });

export const healthRouter = router({
  /** Says that the process answers, and nothing else. */
  live: publicProcedure.output(servingSchema).query(() => ({ status: "ok" as const })),
  /** Asks nothing of the database, whose outage takes no process out of service. A process that ends answers for itself. */
  serving: publicProcedure.output(servingSchema).query(() => ({ status: "ok" as const })),
  /** Tries everything that a process needs for all of its work, writing included. */
  ready: publicProcedure.output(readinessSchema).query(({ ctx }) => findReadiness(ctx)),
  /** Tries each part that the service needs. */
  get: publicProcedure.output(healthSchema).query(async ({ ctx }) => {
    const [database, queue] = await Promise.all([checkDatabase(ctx), checkQueue(ctx)]).then(([first, second]) =>
      [first instanceof Error ? "failed" : first, second instanceof Error ? "failed" : second] as const
    );
    return {
      status: database === "ok" && queue !== "failed" ? "ok" as const : "failed" as const,
      version: VERSION,
      uptime_seconds: Math.floor((performance.now() - ctx.startedAt) / 1000),
      checks: { database, queue: queue === "failed" ? queue : "ok" as const },
      workers: queue === "failed" ? "unknown" as const : queue,
    };
  }),
});

/** Procedures with streams, which only REST can carry. */
export const healthStreamsRouter = router({
  /** Two events with a time between them, by which a client sees whether something on its way holds events back. */
  events: publicProcedure.query(({ ctx }) => {
    admitBeats();
    return beat(ctx.closing);
  }),
});

const BEAT_MS = 1_500;
// Anybody may ask, and each keeps a place among the streams of events until it has been read.
const BEATS_MAX = 8;
const BEATS_SECONDS = 2;
const begunMs: number[] = [];

/** @throws AppError RATE_LIMITED, whoever asked for the others. */
function admitBeats(): void {
  const now = performance.now();
  const oldest = begunMs.at(-BEATS_MAX);
  if (oldest !== undefined && now - oldest < BEATS_SECONDS * 1000) {
    const message = `Cannot send events to try the way: ${BEATS_MAX} others were asked for within ${BEATS_SECONDS} s`;
    throw new AppError("RATE_LIMITED", message, { retryAfterSeconds: BEATS_SECONDS });
  }
  begunMs.push(now);
  begunMs.splice(0, begunMs.length - BEATS_MAX);
}

async function* beat(closing: AbortSignal) {
  yield { id: "1", event: "beat", data: { pause_ms: BEAT_MS } };
  await pause(BEAT_MS, undefined, { signal: closing }).catch(() => {});
  yield { id: "2", event: "beat", data: { pause_ms: BEAT_MS } };
}

const checkDatabase = sharing(async ({ db }) => {
  await db.execute(sql`select 1`);
  return "ok" as const;
});

const checkQueue = sharing(async ({ queue }) => (await queue.check()).hasWorker ? "alive" as const : "none" as const);
