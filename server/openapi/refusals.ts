import { ERRORS } from "../../routers/common/error_codes.ts";
import { AppError, ERROR_CODES, type ErrorCode, errorStatus, ISSUES_MAX } from "../../routers/common/errors.ts";
import type { JsonSchema } from "../../routers/json_schema.ts";

/** A part of the description. */
export type Json = Readonly<Record<string, unknown>>;

/** An answer for each status of the codes. @param schemaOf The schema of an answer that has one of some codes. */
export function refusals(codes: readonly ErrorCode[], schemaOf = refusal): Json {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorStatus(new AppError(code, "")));
  return Object.fromEntries([...byStatus].map(([status, all]) => {
    const retry = status === 429 || status === 503 ? { "Retry-After": "Seconds until another try is worth it." } : {};
    return [status, {
      description: all.toSorted().map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("; "),
      headers: describeHeaders(retry),
      content: { "application/json": { schema: schemaOf(all.toSorted()) } },
    }];
  }));
}

function refusal(codes: readonly ErrorCode[]): Json {
  const narrow = { type: "object", properties: { error: { type: "object", properties: { code: { enum: codes } } } } };
  return { allOf: [{ $ref: "#/components/schemas/Error" }, narrow] };
}

/** An answer of the authentication library for what it understands and cannot do. */
export const LIBRARY_REFUSAL: Json = {
  description: "better-auth's own code says why, such as USER_ALREADY_EXISTS_USE_ANOTHER_EMAIL.",
  content: { "application/json": { schema: accountRefusal() } },
};

/** The schema of a refusal below /api/auth. */
export function accountRefusal(): Json {
  return { $ref: "#/components/schemas/AccountError" };
}

/** Headers of an answer, by name with their meaning. */
export function describeHeaders(headers: Readonly<Record<string, string>>): Json {
  const all = { "X-Request-Id": "Names the request in errors and in the log.", ...headers };
  return Object.fromEntries(
    Object.entries(all).map(([name, description]) => [name, { description, schema: { type: "string" } }]),
  );
}

/** The shape of every refusal. */
export function errorSchema(): JsonSchema {
  return {
    description: "Every refusal. Codes are stable, messages may change.",
    ...refusalSchema({ enum: [...ERROR_CODES] }),
  };
}

/** The shape of a refusal below /api/auth. */
export function accountErrorSchema(): JsonSchema {
  const description =
    "A refusal below /api/auth. `error.code` is one of ours or of better-auth's; its own `code` and `message` are beside it.";
  const { properties, ...rest } = refusalSchema({});
  return { description, ...rest, properties: { ...properties, code: { type: "string" }, message: { type: "string" } } };
}

function refusalSchema(code: JsonSchema): JsonSchema {
  const text: JsonSchema = { type: "string" };
  const issue: JsonSchema = {
    type: "object",
    properties: { path: { ...text, description: "A JSON pointer." }, message: text },
    required: ["path", "message"],
  };
  const issues: JsonSchema = { type: "array", items: issue, maxItems: ISSUES_MAX };
  const error: JsonSchema = {
    type: "object",
    properties: { code: { ...text, ...code }, message: text, issues, request_id: text },
    required: ["code", "message", "issues", "request_id"],
  };
  return { type: "object", properties: { error }, required: ["error"] };
}
