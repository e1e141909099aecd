import { sql } from "drizzle-orm";
import { z } from "zod";
import manifest from "../deno.json" with { type: "json" };
import { publicProcedure, router } from "./trpc.ts";

// A check that takes longer has failed: whoever asks is deciding whether to send traffic here.
const CHECK_MS_MAX = 1_500;

const checkSchema = z.enum(["ok", "failed"]);

const healthSchema = z.object({
  status: checkSchema,
  version: z.string(),
  uptime_seconds: z.number(),
  checks: z.object({ database: checkSchema, queue: checkSchema }),
});

export const healthRouter = router({
  /** Whether the service can do its work: each part it needs is tried. */
  get: publicProcedure.output(healthSchema).query(async ({ ctx }) => {
    const [database, queue] = await Promise.all([
      check(ctx.db, () => ctx.db.execute(sql`select 1`)),
      check(ctx.queue, () => ctx.queue.check()),
    ]);
    return {
      status: database === "ok" && queue === "ok" ? "ok" as const : "failed" as const,
      version: manifest.version,
      uptime_seconds: Math.floor((performance.now() - ctx.startedAt) / 1000),
      checks: { database, queue },
    };
  }),
});

// Whoever asks while a check is under way gets its answer: the public can make this service ask its database no more than once at a time.
const underWay = new WeakMap<object, Promise<"ok" | "failed">>();

function check(part: object, attempt: () => PromiseLike<unknown>): Promise<"ok" | "failed"> {
  const running = underWay.get(part) ?? tryOut(attempt).finally(() => underWay.delete(part));
  underWay.set(part, running);
  return running;
}

async function tryOut(attempt: () => PromiseLike<unknown>): Promise<"ok" | "failed"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("Cannot wait longer for a health check")), CHECK_MS_MAX);
  });
  try {
    await Promise.race([attempt(), timeout]);
    return "ok";
  } catch {
    return "failed";
  } finally {
    clearTimeout(timer);
  }
}
