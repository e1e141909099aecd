import { addressGroup } from "./client_address.ts";
import { createHash, timingSafeEqual } from "node:crypto";
import type { Context as HonoContext } from "hono";
import { AnswerBudget } from "../../routers/common/answer_budget.ts";
import { AppError } from "../../routers/common/errors.ts";
import { openLink } from "../../routers/common/link.ts";
import { acceptToken } from "../../routers/token_secret.ts";
import type { Context, Services } from "../../routers/common/trpc.ts";
import type { UserTurns } from "../../routers/common/user_turns.ts";
import type { Auth } from "./auth.ts";
import type { Receiver } from "../answers/stream_limits.ts";

/** The values that middleware sets on a request for the handlers. */
export interface ServerEnv {
  Variables: {
    requestId: string;
    clientAddress: string;
    context: Context;
    /** The JSON below /api/auth, once it has arrived. */
    body: unknown;
    renewedCookies?: readonly string[];
  };
}

/** The receiver of the answer to a request that has its context. */
export function receiverOf(c: HonoContext<ServerEnv>): Receiver {
  const { clientNetwork, user } = c.get("context");
  return { address: clientNetwork, userId: user?.id ?? null };
}

/** The most requests of one session, one token or one address's tokens whose user is looked up at a time. */
export const LOOKUPS_AT_ONCE = 8;

/** The parts that a request's context is made of. */
export interface ContextSources extends Services {
  readonly auth: Auth;
  readonly ingestionSecret: string | undefined;
}

// These routes need no session, and must answer when the database that holds the sessions is down.
const SESSIONLESS: ReadonlySet<string> = new Set([
  "/api/health",
  "/api/health/serving",
  "/api/health/ready",
  "/api/health/live",
  "/api/health/events",
]);

/**
 * Makes a request's context: its user, and whether it has the ingestion secret.
 *
 * @param lookups The turns of sessions and tokens. The database answers questions in their order, so without turns everybody would
 * wait behind one user's flood.
 * @throws AppError UNAUTHENTICATED for a wrong token, SHARE_NOT_FOUND for a link that opens nothing.
 */
export async function createContext(
  c: HonoContext<ServerEnv>,
  sources: ContextSources,
  lookups: UserTurns,
): Promise<Context> {
  const found = SESSIONLESS.has(c.req.path) ? null : await findCaller(c, sources, lookups);
  return {
    db: sources.db,
    queue: sources.queue,
    startedAt: sources.startedAt,
    closing: sources.closing,
    readThrough: sources.readThrough,
    importBytesMax: sources.importBytesMax,
    quotaDefaults: sources.quotaDefaults,
    quotas: { ...sources.quotaDefaults, ...found?.quotas },
    runCandlesMax: sources.runCandlesMax,
    remoteAllow: sources.remoteAllow,
    signUp: sources.signUp,
    sendMail: sources.sendMail,
    openIdHost: sources.openIdHost,
    agentSignIn: sources.agentSignIn,
    userTurns: sources.userTurns,
    rowsWorker: sources.rowsWorker,
    user: found?.user ?? null,
    session: found?.session ?? null,
    link: await findLink(c, sources),
    hasIngestionSecret: secretMatches(c.req.header("x-ingestion-admin-secret"), sources.ingestionSecret),
    requestId: c.get("requestId"),
    idempotencyKey: c.req.header("idempotency-key"),
    clientAddress: c.get("clientAddress"),
    clientNetwork: addressGroup(c.get("clientAddress")),
    read: { candles: 0 },
    answer: new AnswerBudget(),
  };
}

/** The user of a token in `Authorization: Bearer`, else of the session cookie. @throws AppError UNAUTHENTICATED for a wrong token. */
async function findCaller(c: HonoContext<ServerEnv>, { auth, db }: ContextSources, lookups: UserTurns) {
  const { headers, signal } = c.req.raw;
  const inTurn = <Found>(key: string, find: () => Promise<Found>) =>
    lookups.runLater(key, async () => {
      // Nobody reads the answer; the status is for the log and the metrics.
      if (signal.aborted) {
        throw new AppError("VALIDATION_FAILED", "Cannot answer: the connection ended before the answer");
      }
      return await find();
    });
  const [, token] = /^Bearer +(.*)$/i.exec(headers.get("authorization") ?? "") ?? [];
  if (token !== undefined) {
    // An address can make up any number of tokens.
    const address = addressGroup(c.get("clientAddress"));
    return await inTurn(`token ${token}`, () => inTurn(`address ${address}`, () => acceptToken(db, token)));
  }
  const found = await auth.useSession(headers, (session, find) => inTurn(`session ${session}`, find));
  if (found !== null) c.set("renewedCookies", found.cookies);
  return found;
}

/** The link that a page of the console was opened by. REST has a path of its own for links. */
async function findLink(c: HonoContext<ServerEnv>, { db }: ContextSources): Promise<Context["link"]> {
  const token = c.req.header("x-share-token");
  return token === undefined || !c.req.path.startsWith("/trpc/") ? null : await openLink(db, token);
}

/** Compares secrets in constant time; hashing both hides even the length. An unset secret never matches. */
export function secretMatches(given: string | undefined, configured: string | undefined): boolean {
  if (given === undefined || configured === undefined || configured === "") return false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(configured));
}
