import type { Context as HonoContext } from "hono";
import { AppError, type Issue, pointer } from "../../routers/common/errors.ts";
import { type Auth, PASSWORD_LENGTHS } from "./auth.ts";
import type { ServerEnv } from "./context.ts";

const PREFIX = "/api/auth";
// Their clients read the refusals of RFC 8628, in which `error` is a word.
const DEVICE_ROUTES: ReadonlySet<string> = new Set(["/api/auth/device/code", "/api/auth/device/token"]);

// Our codes for the library's, and for a status without a code.
const CODES: Readonly<Record<string, string>> = {
  VALIDATION_ERROR: "VALIDATION_FAILED",
  BAD_REQUEST: "VALIDATION_FAILED",
  UNAUTHORIZED: "UNAUTHENTICATED",
  400: "VALIDATION_FAILED",
  401: "UNAUTHENTICATED",
  403: "FORBIDDEN",
};

// The fields of refusals that the library gives without a field.
const FIELDS: Readonly<Record<string, Issue>> = {
  INVALID_EMAIL: { path: "/email", message: "must be a valid e-mail address" },
  PASSWORD_TOO_SHORT: { path: "/password", message: `must be at least ${PASSWORD_LENGTHS.least} characters long` },
  PASSWORD_TOO_LONG: { path: "/password", message: `must be at most ${PASSWORD_LENGTHS.most} characters long` },
  USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL: { path: "/email", message: "must not belong to another user" },
};

// Advice on refusals that the library gives in few words.
const ADVICE: Readonly<Record<string, string>> = {
  EMAIL_NOT_VERIFIED: "Cannot sign in: the e-mail address is not verified yet; a mail with a link is on its way to it",
  RESET_PASSWORD_DISABLED: "Cannot mail a link: this service sends no mails; ask an admin to set a password",
  INVALID_TOKEN: "Cannot accept the link: it was used, or its time is over; ask for another one",
};

/**
 * Lets the authentication library answer. Its refusals get our `error` object, and keep the `code` and `message` that the library's own
 * clients read.
 *
 * @throws AppError ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED where the library has no route.
 */
export async function answerAuth(c: HonoContext<ServerEnv>, auth: Auth): Promise<Response> {
  const answer = await auth.handle(c.req.raw, c.get("clientAddress"));
  if (answer.status < 400 || (DEVICE_ROUTES.has(c.req.path) && answer.status === 400)) return answer;
  const text = await answer.text();
  if (answer.status === 404 && text === "") throw refuseRoute(c, auth);
  const { code, message } = readRefusal(text, answer.status);
  const error = {
    code: CODES[code] ?? code,
    message: ADVICE[code] ?? message,
    issues: findIssues(code, message),
    request_id: c.get("requestId"),
  };
  const headers = new Headers(answer.headers);
  headers.set("content-type", "application/json");
  return new Response(JSON.stringify({ error, code, message }), { status: answer.status, headers });
}

/**
 * Refuses a path that the library reads differently than our own rules, such as `/api/auth/./sign-in/email`, and the callbacks of
 * providers of identities that are not set.
 *
 * @throws AppError ROUTE_NOT_FOUND
 */
export function refuseUnclearPaths(auth: Pick<Auth, "isClosed">) {
  return async (c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> => {
    const isUnclear = new URL(c.req.raw.url).pathname !== c.req.path;
    if (isUnclear || auth.isClosed(c.req.path.slice(PREFIX.length))) throw refuseRoute(c);
    await next();
  };
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

function readRefusal(text: string, status: number): { code: string; message: string } {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    // The library sent no JSON: only the status is known.
  }
  const refusal: { code?: unknown; message?: unknown; error_description?: unknown } =
    typeof body === "object" && body !== null ? body : {};
  const { code, error_description: description, message = description } = refusal;
  return {
    code: typeof code === "string" ? code : status >= 500 ? "INTERNAL" : CODES[status] ?? "VALIDATION_FAILED",
    message: typeof message === "string" ? message : `Cannot answer: the authentication failed with status ${status}`,
  };
}

/** Splits the library's sentence about several fields: `[body.email] must be ...; [body.name] is required`. */
function findIssues(code: string, message: string): Issue[] {
  const field = FIELDS[code];
  if (field !== undefined) return [field];
  return message.split(/; (?=\[(?:body|query)[.\]])/).flatMap((part) => {
    const [, place, problem] = /^\[(?:body|query)((?:\.[^\]]+)?)\] (.*)$/s.exec(part) ?? [];
    return place === undefined || problem === undefined
      ? []
      : [{ path: pointer(place.split(".").slice(1)), message: problem }];
  });
}
