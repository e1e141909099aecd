import { sql } from "drizzle-orm";
import { z } from "zod";
import manifest from "../deno.json" with { type: "json" };
import { type Context, publicProcedure, router } from "./common/trpc.ts";

/** The service's version. */
export const VERSION = manifest.version;

// A longer check counts as failed: load balancers wait for the answer.
const CHECK_MS_MAX = 1_500;
// Time in which this thread is busy counts as one tick: the database may have answered meanwhile.
const TICK_MS = 100;

const checkSchema = z.enum(["ok", "failed"]);

const healthSchema = z.object({
  status: checkSchema,
  version: z.string(),
  uptime_seconds: z.number(),
  checks: z.object({ database: checkSchema, queue: checkSchema }),
  /** True if any process takes backtests. Without one, backtests wait, but the API still works. */
  workers: z.enum(["alive", "none", "unknown"]),
});

export const healthRouter = router({
  /** Asks nothing of the database, whose outage takes no process out of service. A process that ends answers for itself. */
  serving: publicProcedure.output(z.object({ status: z.literal("ok") })).query(() => ({ status: "ok" as const })),
  /** Tries each part that the service needs. */
  get: publicProcedure.output(healthSchema).query(async ({ ctx }) => {
    const [database, queue] = await Promise.all([checkDatabase(ctx), checkQueue(ctx)]);
    return {
      status: database === "ok" && queue !== "failed" ? "ok" as const : "failed" as const,
      version: VERSION,
      uptime_seconds: Math.floor((performance.now() - ctx.startedAt) / 1000),
      checks: { database, queue: queue === "failed" ? queue : "ok" as const },
      workers: queue === "failed" ? "unknown" as const : queue,
    };
  }),
});

const checkDatabase = sharing(async ({ db }: Context) => {
  await db.execute(sql`select 1`);
  return "ok" as const;
});

const checkQueue = sharing(async ({ queue }: Context) => (await queue.check()).hasWorker ? "alive" : "none");

/**
 * Makes simultaneous callers of a check share one attempt. The route is public: without this, any number of callers could each start
 * a database query.
 */
function sharing<Answer>(attempt: (ctx: Context) => Promise<Answer>): (ctx: Context) => Promise<Answer | "failed"> {
  const underWay = new WeakMap<object, Promise<Answer | "failed">>();
  return (ctx) => {
    const running = underWay.get(ctx.db) ?? tryOut(attempt(ctx)).finally(() => underWay.delete(ctx.db));
    underWay.set(ctx.db, running);
    return running;
  };
}

async function tryOut<Answer>(answer: Promise<Answer>): Promise<Answer | "failed"> {
  let ticks = 0;
  const late = Promise.withResolvers<"failed">();
  const timer = setInterval(() => {
    if (++ticks * TICK_MS >= CHECK_MS_MAX) late.resolve("failed");
  }, TICK_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } catch {
    return "failed";
  } finally {
    clearInterval(timer);
  }
}
