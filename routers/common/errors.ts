import { TRPCError } from "@trpc/server";
import {
  getHTTPStatusCodeFromError,
  type TRPC_ERROR_CODE_KEY,
  TRPC_ERROR_CODES_BY_KEY,
} from "@trpc/server/unstable-core-do-not-import";
import { z } from "zod";
import { findStoreError, isDatabaseFault, isDatabaseShortage } from "../../db/faults.ts";
import { findUnreadable } from "../../db/codec/unreadable.ts";
import { ERRORS } from "./error_codes.ts";
import { findNearest, hintNames } from "../../market/nearest_name.ts";
import { RowsClosed } from "../../workers/rows/rows_closed.ts";

export type ErrorCode = keyof typeof ERRORS;

/** Every code. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter((code): code is ErrorCode =>
  Object.hasOwn(ERRORS, code)
);

/** Most issues in one answer; a large request could have megabytes of them. */
export const ISSUES_MAX = 100;

/** One error in a request: a JSON pointer to it, and the rule that it breaks. */
export interface Issue {
  readonly path: string;
  readonly message: string;
}

/** The body of every error answer. */
interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly issues: readonly Issue[];
    readonly request_id: string;
  };
}

/** A refusal for the caller: its message and issues reach the client unchanged. */
export class AppError extends TRPCError {
  readonly appCode: ErrorCode;
  readonly issues: readonly Issue[];
  /** Seconds until the caller may try again; sent as Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    more: { issues?: readonly Issue[]; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super({ code: ERRORS[code].trpc, message, cause: more.cause });
    this.name = "AppError";
    this.appCode = code;
    this.issues = more.issues ?? [];
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

// Our codes for what tRPC refuses before it reaches a procedure.
const TRPC_REFUSALS: Partial<Record<TRPC_ERROR_CODE_KEY, ErrorCode>> = {
  BAD_REQUEST: "VALIDATION_FAILED",
  PARSE_ERROR: "VALIDATION_FAILED",
  NOT_FOUND: "ROUTE_NOT_FOUND",
  METHOD_NOT_SUPPORTED: "METHOD_NOT_ALLOWED",
  PAYLOAD_TOO_LARGE: "PAYLOAD_TOO_LARGE",
  UNSUPPORTED_MEDIA_TYPE: "UNSUPPORTED_MEDIA_TYPE",
};

// About as long as it takes to replace a process by one of the newer build.
const UNREADABLE_SECONDS = 30;

/**
 * Turns any error into one that is safe to show: an AppError unchanged, a schema's refusal with its issues, everything else as INTERNAL
 * without the original message (the original is the `cause`, for the log).
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof TRPCError) {
    if (error.cause instanceof AppError) return error.cause;
    if (error.cause instanceof z.core.$ZodError && error.code === "BAD_REQUEST") return validationFailed(error.cause);
    const code = TRPC_REFUSALS[error.code];
    if (code !== undefined) return new AppError(code, error.message, { cause: error });
  }
  const cause = error instanceof TRPCError ? error.cause : error;
  // The client has left; the status is for the log and the metrics.
  if (isCutOff(cause)) {
    return new AppError("VALIDATION_FAILED", "Cannot read the body: the connection ended before its end", { cause });
  }
  const unreadable = findUnreadable(cause);
  if (unreadable !== undefined) {
    return new AppError(
      "RECORD_UNREADABLE",
      `Cannot read the ${unreadable.record}: a newer build of the service wrote it, or it is damaged; try again later`,
      { cause: unreadable, retryAfterSeconds: UNREADABLE_SECONDS },
    );
  }
  if (isDatabaseFault(cause) || isDatabaseShortage(cause)) {
    const why = findStoreError(cause) === undefined
      ? "the database is unreachable or its disk is full"
      : "the object store is unreachable";
    return new AppError("UNAVAILABLE", `Cannot answer now: ${why}; try again later`, {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
  if (cause instanceof RowsClosed) {
    return new AppError("UNAVAILABLE", "Cannot answer: the service is shutting down", { cause, retryAfterSeconds: 1 });
  }
  return new AppError("INTERNAL", "Cannot answer because of an internal error: report the request_id", {
    cause: error,
  });
}

/** True where the sender left before the body's end; the runtime has only words for it. */
function isCutOff(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource && /body as underlying resource unavailable$/.test(error.message);
}

/** The HTTP status of an error. */
export function errorStatus(error: AppError): number {
  return getHTTPStatusCodeFromError(error);
}

/** The error as the body of a REST answer. */
export function errorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: { code: error.appCode, message: error.message, issues: error.issues, request_id: requestId },
  };
}

/** The error as tRPC's clients expect it. */
export function trpcErrorBody(error: AppError, requestId: string) {
  const { code: appCode, message, issues, request_id } = errorBody(error, requestId).error;
  const data = { code: error.code, httpStatus: errorStatus(error), appCode, issues, request_id };
  return { error: { message, code: TRPC_ERROR_CODES_BY_KEY[error.code], data } };
}

/** A schema's refusal: the message has the first issue, `issues` the first ISSUES_MAX. */
export function validationFailed(error: z.core.$ZodError, prefix = ""): AppError {
  const issues = error.issues.flatMap((issue) => describeIssue(issue, prefix)).slice(0, ISSUES_MAX);
  const first = issues[0];
  const where = first === undefined ? "" : `: ${first.path === "" ? "the body" : first.path} ${first.message}`;
  return new AppError("VALIDATION_FAILED", `Cannot accept the request${where}`, { issues });
}

/** The refusal of text that no database column can hold. */
export function unstorable(issue: Issue): AppError {
  const where = issue.path === "" ? "the body" : issue.path;
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: ${where} ${issue.message}`, { issues: [issue] });
}

function describeIssue(issue: z.core.$ZodIssue, prefix: string): Issue[] {
  const path = prefix + pointer(issue.path);
  if (issue.code === "unrecognized_keys") {
    const messages = issue.message.split("\n");
    return issue.keys.map((key, i) => ({ path: `${path}${pointer([key])}`, message: messages[i] ?? UNKNOWN_KEY }));
  }
  return [{ path, message: issue.message }];
}

/** A JSON pointer (RFC 6901) from path segments. */
export function pointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Quotes a value in a message: short, on one line. */
export function quote(value: unknown): string {
  if (value === undefined) return "nothing";
  const isNumber = typeof value === "bigint" || typeof value === "number";
  const text = isNumber ? String(value) : JSON.stringify(value) ?? typeof value;
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

/** The rule of a schema's check as a message with the refused value, for rules that Zod has no message for. */
export function mustBe(rule: string): { error(issue: { readonly input?: unknown }): string } {
  return { error: ({ input }) => `must be ${rule}, not ${quote(input)}` };
}

// JSON's names for Zod's types.
const TYPE_NAMES: Readonly<Record<string, string>> = { int: "integer", record: "object" };

// Zod's messages lack the refused value.
z.config({
  customError: (issue) => {
    const value = quote(issue.input);
    switch (issue.code) {
      case "invalid_type":
        return issue.input === undefined
          ? "is required"
          : `must be of type ${TYPE_NAMES[issue.expected] ?? issue.expected}, not ${value}`;
      case "too_small":
        return `must be ${issue.inclusive ? "at least" : "more than"} ${
          sized(issue.origin, issue.minimum)
        }, not ${value}`;
      case "too_big":
        return `must be ${issue.inclusive ? "at most" : "less than"} ${
          sized(issue.origin, issue.maximum)
        }, not ${value}`;
      case "invalid_value":
        return issue.input === undefined
          ? "is required"
          : `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(quote).join(", ")}, not ${value}${
            hintNearest(issue.input, issue.values)
          }`;
      case "unrecognized_keys": {
        const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
        // A line for each key, for describeIssue().
        return issue.keys.slice(0, ISSUES_MAX).map((key) => UNKNOWN_KEY + hintNames(key, known)).join("\n");
      }
      case "invalid_format":
        return `must be a valid ${issue.format}, not ${value}`;
      default:
        return undefined;
    }
  },
});

const UNKNOWN_KEY = "is not a known key";

/** The allowed text that is nearest to a refused one, as the end of a message. */
export function hintNearest(value: unknown, allowed: readonly unknown[]): string {
  const names = allowed.filter((each) => typeof each === "string");
  const nearest = typeof value === "string" ? findNearest(value, names) : undefined;
  return nearest === undefined ? "" : `: did you mean ${nearest}?`;
}

function sized(origin: string, bound: number | bigint): string {
  const plural = Number(bound) === 1 ? "" : "s";
  if (origin === "string") return `${bound} character${plural} long`;
  return origin === "array" ? `${bound} ${plural === "" ? "entry" : "entries"} long` : String(bound);
}
