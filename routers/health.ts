import { sql } from "drizzle-orm";
import { z } from "zod";
import manifest from "../deno.json" with { type: "json" };
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

const checkDatabase = sharing(async ({ db }) => {
  await db.execute(sql`select 1`);
  return "ok" as const;
});

const checkQueue = sharing(async ({ queue }) => (await queue.check()).hasWorker ? "alive" as const : "none" as const);
