import type { Context as HonoContext } from "hono";
import { AppError, type Issue, pointer } from "../routers/errors.ts";
import { type Auth, PASSWORD_LENGTHS } from "./auth.ts";
import type { ServerEnv } from "./context.ts";

const PREFIX = "/api/auth";

// Where the library gives no code or one that says less than ours.
const CODES: Readonly<Record<string, string>> = {
  VALIDATION_ERROR: "VALIDATION_FAILED",
  BAD_REQUEST: "VALIDATION_FAILED",
  UNAUTHORIZED: "UNAUTHENTICATED",
  400: "VALIDATION_FAILED",
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
};

// What the library says without naming a field.
const FIELDS: Readonly<Record<string, Issue>> = {
  INVALID_EMAIL: { path: "/email", message: "must be a valid e-mail address" },
  PASSWORD_TOO_SHORT: { path: "/password", message: `must be at least ${PASSWORD_LENGTHS.least} characters long` },
  PASSWORD_TOO_LONG: { path: "/password", message: `must be at most ${PASSWORD_LENGTHS.most} characters long` },
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: { path: "/email", message: "must not be another user's" },
};

/**
 * Has the authentication library answer, with its refusals in the shape of ours: `error` as everywhere, and beside it the `code` and
 * `message` that the library's own clients read.
 *
 * @throws AppError ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED where the library knows nothing, and says nothing.
 */
export async function answerAuth(c: HonoContext<ServerEnv>, auth: Auth): Promise<Response> {
  const answer = await auth.handle(c.req.raw, c.get("clientAddress"));
  if (answer.status < 400) return answer;
  const said = await answer.text();
  if (answer.status === 404 && said === "") throw refuseRoute(c, auth);
  const { code, message } = readRefusal(said, answer.status);
  const error = {
    code: CODES[code] ?? code,
    message,
    issues: findIssues(code, message),
    request_id: c.get("requestId"),
  };
  const headers = new Headers(answer.headers);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify({ error, code, message }), { status: answer.status, headers });
}

/**
 * Refuses a path that the library would read differently than we do, such as `/api/auth/./sign-in/email`: our own rules go by the path.
 *
 * @throws AppError ROUTE_NOT_FOUND
 */
export async function refuseUnclearPaths(c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> {
  if (new URL(c.req.raw.url).pathname !== c.req.path) throw refuseRoute(c);
  await next();
}

function refuseRoute(c: HonoContext<ServerEnv>, auth?: Auth): AppError {
  const { method, path } = c.req;
  const methods = auth?.methodsAt(path.slice(PREFIX.length)) ?? [];
  if (methods.length === 0 || methods.includes(method)) {
    return new AppError("ROUTE_NOT_FOUND", `Cannot find ${method} ${path}`);
  }
  c.header("allow", [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", "));
  return new AppError("METHOD_NOT_ALLOWED", `Cannot ${method} ${path}: use ${methods.join(" or ")}`);
}

function readRefusal(said: string, status: number): { code: string; message: string } {
  let body: unknown;
  try {
    body = JSON.parse(said);
  } catch {
    // No words of the library's: the status is all there is.
  }
  const { code, message }: { code?: unknown; message?: unknown } = typeof body === "object" && body !== null
    ? body
    : {};
  return {
    code: typeof code === "string" ? code : status >= 500 ? "INTERNAL" : CODES[status] ?? "VALIDATION_FAILED",
    message: typeof message === "string" ? message : `Cannot answer: the status is ${status}`,
  };
}

/** The library tells what is wrong with which field in one sentence: `[body.email] must be ...; [body.name] is required`. */
function findIssues(code: string, message: string): Issue[] {
  const field = FIELDS[code];
  if (field !== undefined) return [field];
  return message.split(/; (?=\[(?:body|query)[.\]])/).flatMap((part) => {
    const [, place, what] = /^\[(?:body|query)((?:\.[^\]]+)?)\] (.*)$/s.exec(part) ?? [];
    return place === undefined || what === undefined
      ? []
      : [{ path: pointer(place.split(".").slice(1)), message: what }];
  });
}
