import type { Context as HonoContext, Hono } from "hono";
import { AppError, pointer, quote } from "../../routers/common/errors.ts";
import { findMeantKeys, hintAtMeantKeys } from "../../routers/common/name_hints.ts";
import { type Access, requireAccess } from "../../routers/common/trpc.ts";
import { receiverOf, type ServerEnv } from "../requests/context.ts";
import type { ReportShell } from "../answers/encode_report.ts";
import { readJson, requireType, untilStalled } from "../middleware/body.ts";
import type { StreamLimits } from "../answers/stream_limits.ts";
import { type Api, FILE_TYPES, type Route, ROUTES } from "./routes.ts";

/**
 * Serves ROUTES on a Hono app. Each request is refused first by access, then by method, then by its body and input.
 *
 * @param createApi Makes the procedures' caller for one request.
 * @param limits The long answers, and the time after which a body is given up of which nothing arrives.
 */
export function serveRest(
  app: Hono<ServerEnv>,
  createApi: (c: HonoContext<ServerEnv>) => Api,
  { streams, stallMs, shell }: {
    readonly streams: StreamLimits;
    readonly stallMs: number;
    readonly shell: ReportShell;
  },
): void {
  for (const row of ROUTES) {
    app.on(row.method, row.path, async (c) => {
      requireAccess(row.access, c.get("context"), row.type);
      const { input, meantKeys } = await readInput(c, row, stallMs);
      const answer = () => row.call(createApi(c), input, c.req.raw, shell);
      try {
        return row.isLong ? await streams.answer(receiverOf(c), answer) : await answer();
      } catch (error) {
        throw hintAtMeantKeys(error, meantKeys);
      }
    });
  }
  for (const path of new Set(ROUTES.map((row) => row.path))) {
    const methods = ROUTES.filter((row) => row.path === path).map((row) => row.method);
    app.all(path, (c) => {
      requireAccess(accessAround(path), c.get("context"), "query");
      c.header("allow", [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", "));
      throw new AppError("METHOD_NOT_ALLOWED", `Cannot ${c.req.method} ${c.req.path}: use ${methods.join(" or ")}`);
    });
  }
  // A stranger must not learn which protected paths exist.
  app.all("/api/*", (c) => {
    requireAccess(accessAround(c.req.path), c.get("context"), "query");
    return c.notFound();
  });
}

const STRICTEST_FIRST = [
  "admin",
  "ingestion",
  "signed-in",
  "user",
  "serve",
  "public",
] as const satisfies readonly Access[];

/** The access that a request without a row needs: the strictest among the rows of the same resource. */
function accessAround(path: string): Access {
  const resource = resourceOf(path);
  const rows = ROUTES.filter((row) => resourceOf(row.path) === resource);
  const unknown = /^\/api\/admin(\/|$)/.test(path) ? "admin" : "user";
  return STRICTEST_FIRST.find((access) => rows.some((row) => row.access === access)) ?? unknown;
}

/** `/api/backtests` for `/api/backtests/:id`, and `/api/admin/ingestion` for `/api/admin/ingestion/runs`. */
function resourceOf(path: string): string {
  return /^\/api\/(?:admin\/)?[^/]*/.exec(path)?.[0] ?? path;
}

// A header has room for this many names.
const IGNORED_NAMES_MAX = 20;
const IGNORED_LENGTH_MAX = 100;

/**
 * Merges path parameters, query and body into one object, and refuses a key that comes twice. Unknown keys of a query are ignored, since
 * clients and proxies add their own; a header names them.
 */
async function readInput(c: HonoContext<ServerEnv>, row: Route, stallMs: number): Promise<RouteInput> {
  const { given, meantKeys } = readQuery(c, row.query);
  // Object.fromEntries keeps a key named __proto__ as a plain key, so that the schema can refuse it.
  const input: Record<string, unknown> = Object.fromEntries(given);
  return { input: await addBody(c, input, row.body, stallMs), meantKeys };
}

/** The input of a procedure. */
interface RouteInput {
  readonly input: Record<string, unknown>;
  /** Known keys of the query that are probably meant by unknown ones. */
  readonly meantKeys: ReadonlyMap<string, string>;
}

function readQuery(c: HonoContext<ServerEnv>, query: ReadonlySet<string>) {
  const given: [key: string, value: unknown][] = Object.entries(c.req.param());
  const names = new Set(given.map(([name]) => name));
  const ignored: string[] = [];
  for (const [key, values] of Object.entries(c.req.queries())) {
    if (!query.has(key)) {
      ignored.push(key.slice(0, IGNORED_LENGTH_MAX).toWellFormed());
      continue;
    }
    if (values.length > 1 || names.has(key)) throw refuse(`/${key}`, "must be given once");
    given.push([key, values[0]]);
  }
  const named = ignored.slice(0, IGNORED_NAMES_MAX);
  const meantKeys = findMeantKeys(named, query);
  if (named.length > 0) c.header("x-ignored-query", named.map(encodeURIComponent).join(", "));
  if (meantKeys.size > 0) c.header("x-query-hint", `did you mean ${[...meantKeys.keys()].join(", ")}?`);
  return { given, meantKeys };
}

async function addBody(
  c: HonoContext<ServerEnv>,
  input: Record<string, unknown>,
  bodyKind: Route["body"],
  stallMs: number,
): Promise<Record<string, unknown>> {
  if (bodyKind === "csv") {
    requireType(c, ...FILE_TYPES);
    return { ...input, body: ReadableStream.from(untilStalled(c.req.raw.body, stallMs)) };
  }
  if (bodyKind === "none") return input;
  const body = await readJson(c, { isOptional: bodyKind === "optional", stallMs });
  if (body === undefined) return input;
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw refuse("", `must be a JSON object, not ${quote(body)}`);
  }
  for (const key of Object.keys(body)) {
    if (Object.hasOwn(input, key)) throw refuse(pointer([key]), "is not a known key");
  }
  return { ...body, ...input };
}

function refuse(path: string, message: string): AppError {
  const issues = [{ path, message }];
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: ${path || "the body"} ${message}`, { issues });
}
