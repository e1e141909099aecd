import { createHash } from "node:crypto";
import { describeProcedure, type restRouter } from "../../routers/app.ts";
import type { Access } from "../../routers/common/trpc.ts";
import { encodeArtifact } from "../answers/encode_artifact.ts";
import { encodeEvents } from "../answers/encode_events.ts";
import { encodeList } from "../answers/encode_list.ts";
import { encodeLog } from "../answers/encode_log.ts";
import { encodeReport, type ReportShell } from "../answers/encode_report.ts";
import { encodeSeries } from "../answers/encode_series.ts";
import { encodeTicks } from "../ticks/encode_ticks.ts";
import { matchesTag } from "../answers/negotiation.ts";

/** The procedures of REST, called with one request's context. */
export type Api = ReturnType<typeof restRouter.createCaller>;

/** Of the files that an import takes; their first bytes say which they are. */
export const FILE_TYPES = ["text/csv", "text/tab-separated-values", "application/gzip", "application/zip"] as const;

/** The optional parts of a row. */
interface RouteOptions<Output> {
  /** `json` is required (the default for POST and PATCH), `optional` may be missing, `csv` arrives unread as `body`. */
  readonly body?: "json" | "optional" | "csv";
  /** Sends a hash of the answer as its ETag, and 304 to a client that has the same answer already. */
  readonly etag?: true;
  /** The status where the output decides it. */
  readonly statusOf?: (output: Output) => number;
  /** The path of the created resource. */
  readonly location?: (output: Output) => string;
  /** Writes the response for outputs that are not one JSON value; it may be long. */
  readonly encode?: (output: Output, request: Request) => Response | Promise<Response>;
  /** The same for an output that is shown on the report's page. */
  readonly page?: (output: Output, request: Request, shell: ReportShell) => Promise<Response>;
}

/** A row of the table. */
export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly status: number;
  /** The callers that it is for; the procedure's own guard asks for the same. */
  readonly access: Access;
  /** The procedure's path, as in `backtests.list`. */
  readonly procedure: string;
  /** The kind of its procedure, on which the scope that a token needs depends. */
  readonly type: "query" | "mutation" | "subscription";
  readonly body: "none" | "json" | "optional" | "csv";
  /** The answer may be long: a whole list or series, a file, or events. */
  readonly isLong: boolean;
  /** The keys that a query may have. */
  readonly query: ReadonlySet<string>;
  call(api: Api, input: unknown, request: Request, shell: ReportShell): Promise<Response>;
}

/**
 * A row of ROUTES. The declared status is the one that is sent.
 *
 * @param procedure Receives the request's input unchecked; its own schema validates it.
 */
function route<Output>(
  method: Route["method"],
  path: string,
  status: number,
  access: Access,
  procedure: (api: Api) => (input: never) => Promise<Output>,
  options: RouteOptions<Output> = {},
): Route {
  const hasBody = method === "POST" || method === "PATCH";
  const call = async (api: Api, input: unknown, request: Request, shell: ReportShell) => {
    const output: Output = await Reflect.apply(procedure(api), undefined, [input]);
    if (options.encode !== undefined) return await options.encode(output, request);
    if (options.page !== undefined) return await options.page(output, request, shell);
    if (status === 204) return new Response(null, { status });
    const text = JSON.stringify(output);
    const headers = new Headers({ "content-type": "application/json" });
    if (options.location !== undefined) headers.set("location", options.location(output));
    if (options.etag !== true) return new Response(text, { status: options.statusOf?.(output) ?? status, headers });
    const tag = `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`;
    headers.set("etag", tag);
    headers.set("cache-control", "private, no-cache");
    if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
    return new Response(text, { status, headers });
  };
  const name = nameOf(procedure);
  const { type, keys: query } = describeProcedure(name);
  const isLong = options.encode !== undefined || options.page !== undefined;
  const body = hasBody ? options.body ?? "json" : "none";
  return { method, path, status, access, procedure: name, type, body, isLong, query, call };
}

/** A row whose answer is a list. */
function listing<Output extends Parameters<typeof encodeList>[0]>(
  path: string,
  access: Access,
  procedure: (api: Api) => (input: never) => Promise<Output>,
): Route {
  return route("GET", path, 200, access, procedure, { encode: encodeList });
}

/** A row whose answer is columns over time. */
function series<Output extends Parameters<typeof encodeSeries>[0]>(
  path: string,
  access: Access,
  procedure: (api: Api) => (input: never) => Promise<Output>,
): Route {
  return route("GET", path, 200, access, procedure, { encode: encodeSeries });
}

/** The name of the procedure that a row calls, as in `backtests.list`. */
function nameOf(procedure: (api: Api) => unknown): string {
  const recorder = new Proxy({}, {
    get: (_, router) => new Proxy({}, { get: (_, name) => `${String(router)}.${String(name)}` }),
  });
  return String(Reflect.apply(procedure, undefined, [recorder]));
}

/** A record under the name of its kind. */
type RunAnswer = Awaited<ReturnType<Api["backtests" | "optimizations" | "monteCarlo" | "stressTests"]["create"]>>;

/** The routes that each kind of runs has: list, submit, read, follow, cancel and delete. @param runs Its router. */
function runRoutes(
  path: string,
  runs: "backtests" | "optimizations" | "monteCarlo" | "stressTests",
  // Of what a new one belongs to, which is all that it needs.
  parent?: string,
): Route[] {
  const location = (answer: RunAnswer) => Object.values(answer).map(({ id }) => `${path}/${id}`).join();
  return [
    listing(path, "user", (api) => api[`${runs}Streams`].list),
    route<RunAnswer>("POST", parent ?? path, 202, "user", (api) => api[runs].create, {
      location,
      ...(parent === undefined ? {} : { body: "optional" }),
    }),
    route<RunAnswer>("GET", `${path}/:id`, 200, "user", (api) => api[runs].get, { etag: true }),
    route("DELETE", `${path}/:id`, 204, "user", (api) => api[runs].delete),
    route<RunAnswer>("POST", `${path}/:id/cancel`, 202, "user", (api) => api[runs].cancel, { body: "optional" }),
    route("GET", `${path}/:id/events`, 200, "user", (api) => api[`${runs}Streams`].events, { encode: encodeEvents }),
  ];
}

/** Every route of the API: its status on success, who may call it, and its procedure. */
export const ROUTES: readonly Route[] = [
  route("GET", "/api/health", 200, "public", (api) => api.health.get, {
    statusOf: ({ status }) => status === "ok" ? 200 : 503,
  }),
  route("GET", "/api/health/serving", 200, "public", (api) => api.health.serving),
  route("GET", "/api/health/ready", 200, "public", (api) => api.health.ready, {
    statusOf: ({ status }) => status === "ok" ? 200 : 503,
  }),
  route("GET", "/api/health/live", 200, "public", (api) => api.health.live),
  route("GET", "/api/health/events", 200, "public", (api) => api.healthStreams.events, { encode: encodeEvents }),
  route("GET", "/api/session", 200, "user", (api) => api.session.get),
  route("GET", "/api/tokens", 200, "signed-in", (api) => api.tokens.list),
  route("POST", "/api/tokens", 201, "signed-in", (api) => api.tokens.create),
  route("DELETE", "/api/tokens/:id", 204, "signed-in", (api) => api.tokens.revoke),
  route("GET", "/api/agents/request", 200, "signed-in", (api) => api.agents.find),
  route("POST", "/api/agents/answer", 200, "signed-in", (api) => api.agents.answer),
  route("GET", "/api/market-data/ticks", 200, "public", (api) => api.marketDataStreams.ticks, { encode: encodeTicks }),
  route("GET", "/api/market-data/instruments", 200, "public", (api) => api.marketData.instruments),
  route("GET", "/api/market-data/gaps", 200, "public", (api) => api.marketData.gaps),
  // Before the path with an id, which would match it.
  route("GET", "/api/backtests/compare", 200, "user", (api) => api.backtests.compare),
  ...runRoutes("/api/backtests", "backtests"),
  route("PATCH", "/api/backtests/:id", 200, "user", (api) => api.backtests.update),
  route("GET", "/api/backtests/:id/report", 200, "user", (api) => api.backtests.report, { page: encodeReport }),
  route("POST", "/api/backtests/:id/verify", 202, "user", (api) => api.backtests.verify, {
    body: "optional",
    location: ({ backtest }) => `/api/backtests/${backtest.id}`,
  }),
  route("GET", "/api/backtests/:id/differences", 200, "user", (api) => api.backtests.differences),
  route("GET", "/api/backtests/:id/log", 200, "user", (api) => api.backtests.log, { encode: encodeLog }),
  listing("/api/backtests/:id/orders", "user", (api) => api.backtestsStreams.orders),
  listing("/api/backtests/:id/trades", "user", (api) => api.backtestsStreams.trades),
  listing("/api/backtests/:id/holdings", "user", (api) => api.backtestsStreams.holdings),
  series("/api/backtests/:id/equity", "user", (api) => api.backtestsStreams.equity),
  series("/api/backtests/:id/series", "user", (api) => api.backtestsStreams.series),
  series("/api/backtests/:id/returns", "user", (api) => api.backtestsStreams.returns),
  ...runRoutes("/api/optimizations", "optimizations"),
  route("GET", "/api/optimizations/:id/ranking", 200, "user", (api) => api.optimizations.ranking),
  listing("/api/optimizations/:id/account", "user", (api) => api.optimizationsStreams.account),
  listing("/api/optimizations/:id/returns", "user", (api) => api.optimizationsStreams.returns),
  listing("/api/optimizations/:id/splits", "user", (api) => api.optimizationsStreams.splits),
  route("GET", "/api/optimizations/:id/surface", 200, "user", (api) => api.optimizations.surface),
  listing("/api/optimizations/:id/trials", "user", (api) => api.optimizationsStreams.trials),
  route(
    "POST",
    "/api/optimizations/:id/trials/:number/backtest",
    202,
    "user",
    (api) => api.optimizations.backtestTrial,
    {
      body: "optional",
      location: ({ backtest }) => `/api/backtests/${backtest.id}`,
    },
  ),
  ...runRoutes("/api/stress-tests", "stressTests", "/api/backtests/:id/stress"),
  ...runRoutes("/api/monte-carlo", "monteCarlo"),
  listing("/api/monte-carlo/:id/curves", "user", (api) => api.monteCarloStreams.curves),
  listing("/api/monte-carlo/:id/paths", "user", (api) => api.monteCarloStreams.paths),
  route("GET", "/api/shares", 200, "user", (api) => api.shares.list),
  route("POST", "/api/shares", 201, "user", (api) => api.shares.create),
  route("DELETE", "/api/shares/:id", 204, "user", (api) => api.shares.revoke),
  route("GET", "/api/shared/:token", 200, "public", (api) => api.shares.open),
  route("GET", "/api/shared/:token/report", 200, "public", (api) => api.sharesStreams.report, { page: encodeReport }),
  listing("/api/shared/:token/orders", "public", (api) => api.sharesStreams.orders),
  listing("/api/shared/:token/trades", "public", (api) => api.sharesStreams.trades),
  listing("/api/shared/:token/holdings", "public", (api) => api.sharesStreams.holdings),
  series("/api/shared/:token/equity", "public", (api) => api.sharesStreams.equity),
  series("/api/shared/:token/returns", "public", (api) => api.sharesStreams.returns),
  listing("/api/shared/:token/trials", "public", (api) => api.sharesStreams.trials),
  listing("/api/strategies", "user", (api) => api.strategiesStreams.list),
  route("POST", "/api/strategies", 201, "user", (api) => api.strategies.create, {
    location: ({ strategy }) => `/api/strategies/${strategy.slug}`,
  }),
  route("GET", "/api/strategies/:slug", 200, "user", (api) => api.strategies.get),
  route("GET", "/api/strategies/:slug/versions", 200, "user", (api) => api.strategies.versions),
  route("POST", "/api/strategies/:slug/versions", 201, "user", (api) => api.strategies.addVersion),
  route(
    "GET",
    "/api/strategies/:slug/versions/:version/artifact",
    200,
    "user",
    (api) => api.strategiesStreams.artifact,
    { encode: encodeArtifact },
  ),
  route("PATCH", "/api/strategies/:slug", 200, "user", (api) => api.strategies.update),
  route("DELETE", "/api/strategies/:slug", 204, "user", (api) => api.strategies.delete),
  listing("/api/universes", "user", (api) => api.universesStreams.list),
  route("POST", "/api/universes", 201, "user", (api) => api.universes.create, {
    location: ({ universe }) => `/api/universes/${universe.slug}`,
  }),
  route("GET", "/api/universes/:slug", 200, "user", (api) => api.universes.get),
  route("PATCH", "/api/universes/:slug", 200, "user", (api) => api.universes.update),
  route("DELETE", "/api/universes/:slug", 204, "user", (api) => api.universes.delete),
  listing("/api/universes/:slug/members", "user", (api) => api.universesStreams.members),
  route("GET", "/api/universes/:slug/versions", 200, "user", (api) => api.universes.versions),
  route("POST", "/api/universes/:slug/versions", 201, "user", (api) => api.universes.addVersion),
  route("POST", "/api/endpoints/:name/next", 200, "serve", (api) => api.endpoints.next, { body: "optional" }),
  route("GET", "/api/admin/invitations", 200, "admin", (api) => api.invitations.list),
  route("POST", "/api/admin/invitations", 201, "admin", (api) => api.invitations.create),
  route("DELETE", "/api/admin/invitations/:id", 204, "admin", (api) => api.invitations.revoke),
  route("GET", "/api/admin/users/:id/quotas", 200, "admin", (api) => api.users.quotas),
  route("PATCH", "/api/admin/users/:id/quotas", 200, "admin", (api) => api.users.changeQuotas),
  route("GET", "/api/admin/ingestion/events", 200, "ingestion", (api) => api.ingestion.events),
  route("GET", "/api/admin/ingestion/runs", 200, "ingestion", (api) => api.ingestion.runs),
  route("GET", "/api/admin/ingestion/runs/:id", 200, "ingestion", (api) => api.ingestion.run),
  route("GET", "/api/admin/ingestion/status", 200, "ingestion", (api) => api.ingestion.status),
  route("GET", "/api/admin/ingestion/instruments", 200, "ingestion", (api) => api.ingestion.instruments),
  route("POST", "/api/admin/ingestion/instruments", 201, "ingestion", (api) => api.ingestion.addInstrument),
  route("PATCH", "/api/admin/ingestion/instruments/:id", 200, "ingestion", (api) => api.ingestion.updateInstrument),
  route("DELETE", "/api/admin/ingestion/instruments/:id", 204, "ingestion", (api) => api.ingestion.deleteInstrument),
  route("POST", "/api/admin/ingestion/run-once", 202, "ingestion", (api) => api.ingestion.runOnce, {
    body: "optional",
  }),
  route("POST", "/api/admin/ingestion/import", 200, "ingestion", (api) => api.ingestionStreams.import, { body: "csv" }),
];
