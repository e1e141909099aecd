import { z } from "zod";
import { AppError, ERROR_CODES, errorStatus } from "../../routers/common/errors.ts";
import { type Case, inputOf, type RawRequest } from "./requests.ts";

/** The answer to a request. */
export interface Seen {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** A fault of an answer; `kind` stays the same while the fuzzer makes the request smaller. */
export interface Complaint {
  readonly kind: string;
  readonly detail: string;
}

// A stack, a path of ours, or a statement. A script is named in its own errors.
const LEAK =
  /(?<!\bstrategy)\.ts:\d+:\d+|node_modules|\n\s+at \S+|pgboss\.|select ".*" from|insert into "|Failed query/;

const errorSchema = z.strictObject({
  error: z.strictObject({
    code: z.string().regex(/^[A-Z_]+$/),
    message: z.string().min(1),
    issues: z.array(z.strictObject({ path: z.string().regex(/^(\/.*)?$/s), message: z.string().min(1) })),
    request_id: z.string().min(1),
  }),
});

const trpcErrorSchema = z.object({
  error: z.object({
    message: z.string().min(1),
    data: z.object({
      httpStatus: z.int(),
      appCode: z.string(),
      issues: z.array(z.object({ path: z.string(), message: z.string() })),
      request_id: z.string(),
    }),
  }),
});
const trpcResultSchema = z.object({ result: z.object({ data: z.unknown().optional() }) });

/**
 * Checks an answer against the rules for every answer.
 *
 * @param others The words that only other users may read.
 * @returns The first fault, or null.
 */
export function judge(fuzzed: Case, request: RawRequest, seen: Seen, others: readonly string[]): Complaint | null {
  const { status, headers, text } = seen;
  // A busy machine may be not ready, which is that path's answer.
  const isUnready = status === 503 && request.path === "/api/health/ready";
  if (status >= 500 && !isUnready) return complain(`status ${status}`, text);
  const leak = LEAK.exec(text);
  if (leak !== null) return complain("shows our internals", leak[0]);
  const foreign = others.find((mark) => text.includes(mark));
  if (foreign !== undefined) return complain("shows another user's data", foreign);
  if (headers.get("x-request-id") === null) return complain("no x-request-id", String(status));
  if (headers.get("x-content-type-options") !== "nosniff") return complain("no secure headers", String(status));
  if (status === 429 && headers.get("retry-after") === null) return complain("429 without Retry-After", text);
  // The account routes answer in their own shape.
  if (request.path.startsWith("/api/auth") || isUnready) return null;
  if (request.method === "HEAD" || request.method === "OPTIONS" || status === 304) return null;
  if (headers.get("content-type")?.startsWith("text/event-stream")) return judgeEvents(text);
  if (request.path.startsWith("/trpc") && isTrpc(text)) return judgeTrpc(fuzzed, seen);
  if (status >= 400) return judgeRefusal(seen);
  return judgeSuccess(fuzzed, request, seen);
}

/** True if the answer speaks tRPC's language. */
function isTrpc(text: string): boolean {
  const value = parse(text);
  return Array.isArray(value) || trpcErrorSchema.safeParse(value).success || trpcResultSchema.safeParse(value).success;
}

function judgeTrpc({ target, transport }: Case, { status, text }: Seen): Complaint | null {
  const value = parse(text);
  for (const [index, entry] of (Array.isArray(value) ? value : [value]).entries()) {
    const failed = trpcErrorSchema.safeParse(entry);
    if (failed.success) {
      const { httpStatus, appCode } = failed.data.error.data;
      if (httpStatus >= 500) return complain(`status ${httpStatus}`, text);
      if (statusOf(appCode) !== httpStatus) return complain("a code of another status", `${appCode} ${httpStatus}`);
      continue;
    }
    const done = trpcResultSchema.safeParse(entry);
    if (!done.success) return complain("no tRPC answer", text);
    if (status >= 400 && !Array.isArray(value)) return complain("a result with an error's status", String(status));
    // The second call of a batch goes to another procedure, and a mutation can turn a path into another one.
    if (transport === "batch" || index > 0) continue;
    const refused = target.output?.safeParse(done.data.result.data);
    if (refused?.success === false) return complain("not the declared output", `${refused.error.message} ${text}`);
  }
  return null;
}

function judgeRefusal({ status, headers, text }: Seen): Complaint | null {
  const parsed = errorSchema.safeParse(parse(text));
  if (!parsed.success) return complain("not the error's shape", `${status} ${text}`);
  const { code, request_id } = parsed.data.error;
  if (statusOf(code) !== status) return complain("a code of another status", `${code} ${status}`);
  if (headers.get("x-request-id") !== request_id) return complain("two request ids", text);
  return null;
}

function judgeSuccess(fuzzed: Case, request: RawRequest, { status, headers, text }: Seen): Complaint | null {
  const { target, caller, mutations } = fuzzed;
  const isChanged = mutations.some(({ onRequest }) => onRequest !== undefined);
  const isPublic = /^\/(api\/(health|market-data|auth)|trpc)/.test(request.path);
  if (caller === "nobody" && !isPublic) return complain("answered a stranger", `${status} ${text}`);
  if (isChanged) return null;
  if (target.route !== null && status !== target.route.status) return complain("not the declared status", `${status}`);
  if (refuses(fuzzed)) return complain("accepted what its schema refuses", text);
  // A report is a page, made of what its procedure gives.
  if (target.output === null || target.route?.path.endsWith("/report")) return null;
  if (!headers.get("content-type")?.startsWith("application/json")) return complain("no JSON", text);
  const checked = target.output.safeParse(parse(text));
  return checked.success ? null : complain("not the declared output", `${checked.error.message} ${text}`);
}

/** True if a procedure's schema refuses the input. Only bodies are checked: in a query, numbers are text. */
function refuses(fuzzed: Case): boolean {
  const { input, route } = fuzzed.target;
  if (route?.body !== "json" || input === null) return false;
  // Without its own body there is no input.
  const given = inputOf(fuzzed);
  const sent: unknown = given === undefined ? undefined : JSON.parse(JSON.stringify(given));
  return !input.safeParse(sent).success;
}

function judgeEvents(text: string): Complaint | null {
  const odd = text.split("\n").find((line) => !/^($|:|id:|event:|data:|retry:)/.test(line));
  if (odd !== undefined) return complain("no event", odd);
  const fault = /"httpStatus":5\d\d/.exec(text);
  return fault === null ? null : complain("status 5xx", text);
}

/** An unknown code has no status, so it differs from every status. */
function statusOf(code: string): number | undefined {
  const known = ERROR_CODES.find((each) => each === code);
  return known === undefined ? undefined : errorStatus(new AppError(known, ""));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function complain(kind: string, detail: string): Complaint {
  return { kind, detail: detail.slice(0, 1500) };
}
