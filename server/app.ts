import { trpcServer } from "@hono/trpc-server";
import { getLogger, withContext } from "@logtape/logtape";
import { type Context as HonoContext, Hono, type MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { requestId } from "hono/request-id";
import { matchedRoutes } from "hono/route";
import { secureHeaders } from "hono/secure-headers";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { appRouter, restRouter } from "../routers/app.ts";
import type { Context } from "../routers/common/trpc.ts";
import { claimInvitation } from "../routers/invitations.ts";
import { logUnreadable } from "../routers/common/stored_records.ts";
import { AppError, errorBody, errorStatus, toAppError, trpcErrorBody } from "../routers/common/errors.ts";
import { UserTurns } from "../routers/common/user_turns.ts";
import { findNearestPath } from "../routers/common/name_hints.ts";
import { serveAgentSignIn } from "./agents/sign_in_routes.ts";
import { serveAgents } from "./agents/serve_agents.ts";
import { answerAuth, refuseUnclearPaths } from "./requests/auth_answers.ts";
import { receiveAccountBody, receiveCalls, refuseUnstorable } from "./middleware/body.ts";
import { findClientAddress, parseTrustedProxies } from "./requests/client_address.ts";
import { type ContextSources, createContext, LOOKUPS_AT_ONCE, receiverOf, type ServerEnv } from "./requests/context.ts";
import { setCrossSiteCookies } from "./middleware/cross_site_cookies.ts";
import { createDeviceCookies } from "./middleware/device_cookies.ts";
import { discardBody, withoutLength } from "./middleware/head_requests.ts";
import { requireInvitation } from "./middleware/invited_sign_ups.ts";
import { refuseForeignOrigins } from "./middleware/origin.ts";
import { auditAccounts } from "./middleware/audit.ts";
import { enforcePasswordRules } from "./middleware/password_rules.ts";
import { limitAddresses, limitSignIns, limitUsers, type RateLimits } from "./middleware/rate_limit.ts";
import type { AnsweredRequest } from "./metrics_page.ts";
import { measure, StreamLimits } from "./answers/stream_limits.ts";
import { serveConsole } from "./console.ts";
import { serveLinkPreviews } from "./shared_page.ts";
import { ReportShell } from "./answers/encode_report.ts";
import { ROUTES } from "./rest/routes.ts";
import { serveRest } from "./rest/serve_rest.ts";
import { describeRequest, dropBaggage } from "./tracing.ts";

const log = getLogger(["hindcast", "http"]);
/** The declarations that an editor needs for scripts. */
const SCRIPT_TYPES = new URL("../strategies/scripts/strategy.d.ts", import.meta.url);

/** The parts of the HTTP layer. */
export interface AppOptions extends ContextSources {
  /** The origins that may send cookies, the service's own included. */
  readonly origins: readonly string[];
  readonly https: boolean;
  /** The trusted origins whose pages are of another site. */
  readonly crossSiteOrigins: readonly string[];
  /** Signs the device cookies; the same for every process on one database. */
  readonly secret: string;
  /** Signed the cookies of before, which count until they end. */
  readonly oldSecret?: string | undefined;
  /** Lets admins act as other users. */
  readonly allowsImpersonation: boolean;
  /** Addresses and networks of the proxies in front of the service. */
  readonly trustedProxies: readonly string[];
  readonly rateLimits: RateLimits;
  /** The time after which an answer ends whose client reads nothing, and a request of whose body nothing arrives. */
  readonly stallMs: number;
  /** The path of the folder with the built console. */
  readonly consoleFolder: string;
  /** Is told each answered request; undefined: nobody measures. */
  readonly measureRequest: ((request: AnsweredRequest) => void) | undefined;
}

/** Answers requests. */
export interface Handler {
  /** @param info The connection; its address is the caller's. */
  fetch(request: Request, info?: Deno.ServeHandlerInfo): Response | Promise<Response>;
}

// All answers of a batch stay in memory until the last one.
const BATCH_CALLS_MAX = 100;
// Pages on other origins may read these headers of an answer.
const EXPOSED: readonly string[] = [
  "etag",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "x-ignored-query",
  "x-next-cursor",
  "x-query-hint",
  "x-request-id",
];
// Libraries answer everything below these paths.
const MOUNTED: readonly string[] = ["/api/auth/*", "/trpc/*"];

/**
 * The whole HTTP surface: REST under /api, tRPC under /trpc, the console elsewhere.
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
  app.use(logRequests(options.measureRequest));
  app.use(secureHeaders({ strictTransportSecurity: options.https ? "max-age=15552000; includeSubDomains" : false }));
  app.use(cors({
    origin: [...options.origins],
    credentials: true,
    maxAge: 600,
    exposeHeaders: [...EXPOSED],
  }));
  app.use(setCrossSiteCookies(options.https ? options.crossSiteOrigins : []));
  app.use(sendRenewedCookies);
  app.use(async (c, next) => {
    c.set("clientAddress", findClientAddress(c, proxies));
    await next();
  });
  app.use(limitAddresses(options.rateLimits));
  app.use(refuseForeignOrigins(new Set(options.origins), options.ingestionSecret));
  serveAccounts(app, options);

  const lookups = new UserTurns(LOOKUPS_AT_ONCE);
  const addContext = async (c: HonoContext<ServerEnv>) => {
    c.set("context", await createContext(c, options, lookups));
    limitUser(c);
  };
  const { stallMs } = options;
  const streams = new StreamLimits({ stallMs });
  app.use("/api/*", async (c, next) => {
    await addContext(c);
    await next();
  });
  const parts = { streams, stallMs, shell: new ReportShell(options.consoleFolder) };
  serveRest(app, (c) => restRouter.createCaller(c.get("context"), { signal: c.req.raw.signal }), parts);

  app.use("/trpc/*", async (c, next) => {
    await addContext(c);
    await next();
  });
  serveTrpc(app, streams, options);
  serveAgents(app, addContext, options);
  serveAgentSignIn(app, options);
  app.get("/strategy.d.ts", async (c) => c.text(await Deno.readTextFile(SCRIPT_TYPES)));
  serveDescription(app);
  const links = { db: options.db, rowsWorker: options.rowsWorker, origin: options.origins[0] ?? "" };
  serveConsole(app, options.consoleFolder, serveLinkPreviews(app, links));

  app.notFound((c) => answerError(c, pathNotFound(c)));
  app.onError((error, c) => {
    const appError = toAppError(error);
    logFault(appError);
    return answerError(c, appError);
  });
  return {
    async fetch(request, info) {
      const answer = await app.fetch(request, info);
      return request.method === "HEAD" ? withoutLength(answer) : answer;
    },
  };
}

function pathNotFound(c: HonoContext<ServerEnv>): AppError {
  const nearest = findNearestPath(c.req.path, ROUTES.map(({ path }) => path));
  const hint = nearest === undefined ? "" : `: did you mean ${nearest}?`;
  return new AppError("ROUTE_NOT_FOUND", `Cannot find ${c.req.method} ${c.req.path}${hint}`);
}

/** Serves the authentication library's routes, behind what it lacks. */
function serveAccounts(app: Hono<ServerEnv>, options: AppOptions): void {
  const devices = createDeviceCookies(options.auth, options);
  const signIns = limitSignIns(options.rateLimits, devices, options.auth.findUserId);
  app.use("/api/auth/*", refuseUnclearPaths(options.auth));
  app.use("/api/auth/*", auditAccounts(options.auth));
  if (options.signUp === "closed") app.use("/api/auth/sign-up/*", refuseSignUps);
  if (!options.allowsImpersonation) app.use("/api/auth/admin/impersonate-user", refuseImpersonation);
  app.use("/api/auth/*", signIns.refuseSurplus);
  app.use("/api/auth/*", receiveAccountBody(options.stallMs));
  app.use("/api/auth/*", signIns.limit);
  app.use("/api/auth/*", refuseUnstorable);
  app.use("/api/auth/*", enforcePasswordRules(options.auth));
  if (options.signUp === "invite") {
    app.use(
      "/api/auth/sign-up/*",
      requireInvitation((token, email) => claimInvitation(options.db, token, email), options.auth),
    );
  }
  app.all("/api/auth/*", (c) => answerAuth(c, options.auth));
}

function refuseSignUps(): never {
  throw new AppError("FORBIDDEN", "Cannot sign up: this service takes no new accounts by itself; ask an admin for one");
}

function refuseImpersonation(): never {
  throw new AppError("FORBIDDEN", "Cannot act as another user: this service does not allow it (IMPERSONATION)");
}

/** Serves the typed procedures; each guards itself. */
function serveTrpc(app: Hono<ServerEnv>, streams: StreamLimits, options: AppOptions): void {
  app.use("/trpc/*", receiveCalls(options.stallMs));
  const serve = trpcServer({
    router: appRouter,
    // The adapter wants a plain record.
    createContext: (_, c) => ({ ...c.get("context") }),
    maxBatchSize: BATCH_CALLS_MAX,
    responseMeta: ({ errors }) => ({ headers: retryAfter(errors.map(toAppError)) }),
    onError: ({ error }) => logFault(toAppError(error)),
  });
  app.use("/trpc/*", async (c, next) => {
    const answer = await serve(c, next);
    // A change has been made, so its answer is not refused.
    if (!(answer instanceof Response) || c.req.method === "POST") return answer;
    return await streams.bound(receiverOf(c), await measure(answer));
  });
}

/** Serves the description of the API, which is made when it is first asked for. */
function serveDescription(app: Hono<ServerEnv>): void {
  let text: string | undefined;
  app.get("/openapi.json", async (c) => {
    const { describeApi } = await import("./openapi/document.ts");
    text ??= JSON.stringify(describeApi());
    return c.body(text, 200, { "content-type": "application/json", "cache-control": "public, max-age=300" });
  });
}

/** Forbids caching unless the answer allows it: a shared cache would give one user's answer to another. */
async function keepFromCaches(c: HonoContext, next: () => Promise<void>): Promise<void> {
  await next();
  if (!c.res.headers.has("cache-control")) c.header("cache-control", "no-store");
}

function logRequests(measureRequest: AppOptions["measureRequest"]): MiddlewareHandler<ServerEnv> {
  return async (c, next) => {
    const startedAtMs = performance.now();
    const requestId = c.get("requestId");
    const { method } = c.req;
    const route = findRoute(c);
    describeRequest({ method, route, requestId });
    await withContext({ request_id: requestId }, () => dropBaggage(next));
    const { status } = c.res;
    const durationMs = performance.now() - startedAtMs;
    measureRequest?.({ method, route, status, seconds: durationMs / 1000 });
    // The pattern, since a path can hold what must not be in a log.
    log.info("request", {
      method,
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      request_id: requestId,
      user_id: c.get("context")?.user?.id,
      token_id: tokenOf(c.get("context")),
    });
  };
}

/** The id of the token that stands in for a session. */
function tokenOf(context: Context | undefined): string | undefined {
  const session = context?.session ?? null;
  return session === null || session.scope === null ? undefined : session.id;
}

/** The pattern of the route that answers; undefined where no route matches. */
function findRoute(c: HonoContext<ServerEnv>): string | undefined {
  return matchedRoutes(c).findLast(({ path }) => !path.endsWith("*") || MOUNTED.includes(path))?.path;
}

// The access log has refusals already; only a fault of the service is logged with its cause.
function logFault(error: AppError): void {
  logUnreadable(error);
  if (errorStatus(error) === 500) log.error("Cannot answer: {error}", { error: error.cause ?? error });
}

function answerError(c: HonoContext<ServerEnv>, error: AppError): Response {
  const toBody = /^\/trpc(\/|$)/.test(c.req.path) ? trpcErrorBody : errorBody;
  return c.json(toBody(error, c.get("requestId")), statusOf(error), retryAfter([error]));
}

/** Retry-After for the call that must wait longest. */
function retryAfter(errors: readonly AppError[]): Record<string, string> {
  const seconds = Math.max(...errors.map(({ retryAfterSeconds }) => retryAfterSeconds ?? -1));
  return seconds < 0 ? {} : { "retry-after": String(Math.ceil(seconds)) };
}

function statusOf(error: AppError): ContentfulStatusCode {
  const status = errorStatus(error);
  // Every error code has a status with a body; the check proves it to the compiler.
  return isContentful(status) ? status : 500;
}

function isContentful(status: number): status is ContentfulStatusCode {
  return status >= 400 && status < 600;
}

/** Sends the cookies of a session that the request has lengthened. An answer that shared caches keep must not have them. */
async function sendRenewedCookies(c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> {
  await next();
  if (/\bpublic\b/.test(c.res.headers.get("cache-control") ?? "")) return;
  for (const cookie of c.get("renewedCookies") ?? []) c.header("set-cookie", cookie, { append: true });
}
