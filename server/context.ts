import { createHash, timingSafeEqual } from "node:crypto";
import type { Context as HonoContext } from "hono";
import type { Context, Services } from "../routers/trpc.ts";
import type { Auth } from "./auth.ts";

/** What our middleware leaves on a request for the handlers behind it. */
export interface ServerEnv {
  Variables: { requestId: string; clientAddress: string; context: Context };
}

/** What contexts are made of. */
export interface ContextSources extends Services {
  readonly auth: Auth;
  readonly ingestionSecret: string | undefined;
}

// Answered without looking for a session, which could only be found in the database whose health is asked for.
const SESSIONLESS = "/api/health";

/**
 * Finds out who is calling: the session behind the cookie, and whether the ingestion secret was presented.
 *
 * @param c A request of our Hono app.
 */
export async function createContext(c: HonoContext<ServerEnv>, sources: ContextSources): Promise<Context> {
  const found = c.req.path === SESSIONLESS ? null : await sources.auth.findSession(c.req.raw.headers);
  return {
    db: sources.db,
    queue: sources.queue,
    startedAt: sources.startedAt,
    closing: sources.closing,
    readThrough: sources.readThrough,
    importBytesMax: sources.importBytesMax,
    quotas: sources.quotas,
    runCandlesMax: sources.runCandlesMax,
    remoteAllow: sources.remoteAllow,
    user: found?.user ?? null,
    session: found?.session ?? null,
    hasIngestionSecret: secretMatches(c.req.header("x-ingestion-admin-secret"), sources.ingestionSecret),
    requestId: c.get("requestId"),
    idempotencyKey: c.req.header("idempotency-key"),
    clientAddress: c.get("clientAddress"),
    read: { candles: 0 },
  };
}

/**
 * Compares in a time that tells nothing: both sides are hashed first, so that not even the length shows.
 * A secret that is not configured never matches.
 */
export function secretMatches(given: string | undefined, configured: string | undefined): boolean {
  if (given === undefined || configured === undefined || configured === "") return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(configured));
}
