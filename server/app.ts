import { trpcServer } from "@hono/trpc-server";
import { getLogger, withContext } from "@logtape/logtape";
import { type Context as HonoContext, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { cors } from "hono/cors";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { appRouter, restRouter } from "../routers/app.ts";
import { AppError, errorBody, errorStatus, toAppError, trpcErrorBody } from "../routers/errors.ts";
import { answerAuth, refuseUnclearPaths } from "./auth_answers.ts";
import {
  AUTH_BYTES_MAX,
  BODY_BYTES_MAX,
  limitPlain,
  refuseForms,
  refuseSize,
  refuseUnstorable,
} from "./middleware/body.ts";
import { findClientAddress, parseTrustedProxies } from "./client_address.ts";
import { type ContextSources, createContext, type ServerEnv } from "./context.ts";
import { createDeviceCookies } from "./middleware/device_cookies.ts";
import { discardBody, withoutLength } from "./middleware/head_requests.ts";
import { refuseForeignOrigins } from "./middleware/origin.ts";
import { limitAddresses, limitSignIns, limitUsers, type RateLimits } from "./middleware/rate_limit.ts";
import { serveRest } from "./rest.ts";
import { describeRequest, dropBaggage } from "./tracing.ts";

const log = getLogger(["hindcast", "http"]);

/** What the HTTP side needs to be told. */
export interface AppOptions extends ContextSources {
  /** The origins that may send cookies, the service's own included. */
  readonly origins: readonly string[];
  readonly https: boolean;
  /** Signs the cookies by which devices are known; the same for every process on one database. */
  readonly secret: string;
  /** Addresses and networks of the proxies in front of the service. */
  readonly trustedProxies: readonly string[];
  readonly rateLimits: RateLimits;
}

/** What answers requests. */
export interface Handler {
  /** @param info Whose address counts as the caller's. */
  fetch(request: Request, info?: Deno.ServeHandlerInfo): Response | Promise<Response>;
}

// A batch counts as one request, so that it must not be any number of them.
const BATCH_CALLS_MAX = 100;
// Where libraries answer for all that lies below.
const MOUNTED: readonly string[] = ["/api/auth/*", "/trpc/*"];

/**
 * The whole HTTP surface: REST under /api, tRPC under /trpc.
 *
 * A request is refused in the order origin, session, role, method, size, syntax, schema.
 */
export function createApp(options: AppOptions): Handler {
  const app = new Hono<ServerEnv>();
  const proxies = parseTrustedProxies(options.trustedProxies);
  const limitUser = limitUsers(options.rateLimits);
  app.use(discardBody);
  app.use(keepFromCaches);
  app.use(requestId({ limitLength: 128 }));
  app.use(logRequests);
  app.use(secureHeaders({ strictTransportSecurity: options.https ? "max-age=15552000; includeSubDomains" : false }));
  app.use(cors({
    origin: [...options.origins],
    credentials: true,
    maxAge: 600,
    exposeHeaders: [
      "etag",
      "location",
      "ratelimit",
      "ratelimit-policy",
      "retry-after",
      "x-next-cursor",
      "x-request-id",
    ],
  }));
  app.use(async (c, next) => {
    c.set("clientAddress", findClientAddress(c, proxies));
    await next();
  });
  app.use(limitAddresses(options.rateLimits));
  app.use(refuseForeignOrigins(new Set(options.origins), options.ingestionSecret));
  app.use("/api/auth/*", refuseUnclearPaths);
  app.use("/api/auth/*", bodyLimit({ maxSize: AUTH_BYTES_MAX, onError: () => refuseSize(AUTH_BYTES_MAX) }));
  app.use("/api/auth/*", refuseForms);
  app.use("/api/auth/*", limitSignIns(options.rateLimits, createDeviceCookies(options.auth, options)));
  app.use("/api/auth/*", refuseUnstorable);
  app.all("/api/auth/*", (c) => answerAuth(c, options.auth));

  const enter = async (c: HonoContext<ServerEnv>) => {
    c.set("context", await createContext(c, options));
    limitUser(c);
  };
  app.use("/api/*", async (c, next) => {
    await enter(c);
    await next();
  });
  serveRest(app, (c) => restRouter.createCaller(c.get("context"), { signal: c.req.raw.signal }));

  app.use("/trpc/*", async (c, next) => {
    await enter(c);
    await next();
  });
  serveTrpc(app);

  app.notFound((c) => answerError(c, new AppError("ROUTE_NOT_FOUND", `Cannot find ${c.req.method} ${c.req.path}`)));
  app.onError((error, c) => {
    const seen = toAppError(error);
    logFault(seen);
    return answerError(c, seen);
  });
  return {
    async fetch(request, info) {
      const answer = await app.fetch(request, info);
      return request.method === "HEAD" ? withoutLength(answer) : answer;
    },
  };
}

/** The typed procedures; each keeps its own rule. */
function serveTrpc(app: Hono<ServerEnv>): void {
  app.use("/trpc/*", bodyLimit({ maxSize: BODY_BYTES_MAX, onError: () => refuseSize(BODY_BYTES_MAX) }));
  app.use("/trpc/*", limitPlain);
  app.use(
    "/trpc/*",
    trpcServer({
      router: appRouter,
      // The adapter types a context as a record; ours is spread into one.
      createContext: (_, c) => ({ ...c.get("context") }),
      maxBatchSize: BATCH_CALLS_MAX,
      responseMeta: ({ errors }) => ({ headers: retryAfter(errors.map(toAppError)) }),
      onError: ({ error }) => logFault(toAppError(error)),
    }),
  );
}

/** What does not say who may keep it is one user's: a cache between would give it to another. */
async function keepFromCaches(c: HonoContext, next: () => Promise<void>): Promise<void> {
  await next();
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
}

async function logRequests(c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> {
  const begun = performance.now();
  const requestId = c.get("requestId");
  const route = findRoute(c);
  describeRequest({ method: c.req.method, route, requestId });
  await withContext({ request_id: requestId }, () => dropBaggage(next));
  // The pattern and not the path: those of others can hold what nobody should read in a log.
  log.info("request", {
    method: c.req.method,
    route,
    status: c.res.status,
    duration_ms: Math.round((performance.now() - begun) * 10) / 10,
    request_id: requestId,
    user_id: c.get("context")?.user?.id,
  });
}

/** The pattern of the route that answers; undefined where only middleware fits. */
function findRoute(c: HonoContext<ServerEnv>): string | undefined {
  return matchedRoutes(c).findLast(({ path }) => !path.endsWith("*") || MOUNTED.includes(path))?.path;
}

// Refusals are the caller's and stand in the access log; a fault of ours is written with its cause.
function logFault(error: AppError): void {
  if (errorStatus(error) === 500) log.error("Cannot answer: {error}", { error: error.cause ?? error });
}

function answerError(c: HonoContext<ServerEnv>, error: AppError): Response {
  const write = /^\/trpc(\/|$)/.test(c.req.path) ? trpcErrorBody : errorBody;
  return c.json(write(error, c.get("requestId")), statusOf(error), retryAfter([error]));
}

/** When the call that has to wait longest may be repeated. */
function retryAfter(errors: readonly AppError[]): Record<string, string> {
  const seconds = Math.max(...errors.map(({ retryAfterSeconds }) => retryAfterSeconds ?? -1));
  return seconds < 0 ? {} : { "retry-after": String(Math.ceil(seconds)) };
}

function statusOf(error: AppError): ContentfulStatusCode {
  const status = errorStatus(error);
  // Every code of ours is an error status with a body; the check tells the compiler so.
  return isContentful(status) ? status : 500;
}

function isContentful(status: number): status is ContentfulStatusCode {
  return status >= 400 && status < 600;
}
