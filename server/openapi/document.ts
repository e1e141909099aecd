import type { z } from "zod";
import { describeProcedure } from "../../routers/app.ts";
import type { ErrorCode } from "../../routers/common/errors.ts";
import { VERSION } from "../../routers/health.ts";
import { type JsonSchema, toJsonSchema } from "../../routers/json_schema.ts";
import { FILE_TYPES, type Route, ROUTES } from "../rest/routes.ts";
import { ACCOUNT_ROUTES, type AccountRoute } from "./accounts.ts";
import { describeFields, findWords } from "./field_words.ts";
import { OPERATIONS } from "./operations.ts";
import {
  accountErrorSchema,
  accountRefusal,
  describeHeaders,
  errorSchema,
  type Json,
  LIBRARY_REFUSAL,
  refusals,
} from "./refusals.ts";

const BODY_CODES = ["REQUEST_TIMEOUT", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
const SESSION_COOKIE = "better-auth.session_token";
const DESCRIPTION = `Backtests trading strategies. Dates are UTC, ranges half-open, fractions are fractions: 0.01 is 1%.

Sign in for a session cookie, or send a token as \`Authorization: Bearer\`. A token needs the scope \`read\` to read, \`run\` to
change, \`admin\` to administer market data. A path that does not exist is 404, a method that a path does not have 405, for callers
who may know of it. \`null\` for an optional field is the same as leaving it out; an unknown field of a body is refused.`;

const TAGS: Readonly<Record<string, string>> = {
  accounts: "Accounts, sessions and tokens. Routes below /api/auth are better-auth's.",
  "market data": "Candles and instruments. Public.",
  backtests: "Submit, follow and read backtests.",
  strategies: "The catalogue, and strategies of your own.",
  universes: "Lists of instruments with dates.",
  ingestion: "Market data, for admins.",
  service: "The service itself.",
};

/** Builds the OpenAPI 3.1 description of the whole API from ROUTES and the procedures' schemas. */
export function describeApi(): Json {
  const components = new Map<string, JsonSchema>([
    ["Error", describeFields(errorSchema(), ["Error"])],
    ["AccountError", describeFields(accountErrorSchema(), ["AccountError"])],
  ]);
  const paths: Record<string, Record<string, Json>> = {};
  const add = (path: string, method: string, operation: Json) => {
    (paths[path.replaceAll(/:(\w+)/g, "{$1}")] ??= {})[method.toLowerCase()] = operation;
  };
  for (const row of ROUTES) add(row.path, row.method, describeRow(row, components));
  for (const route of ACCOUNT_ROUTES) add(`/api/auth${route.path}`, route.method, describeAccount(route, components));
  return {
    openapi: "3.1.0",
    info: {
      title: "Hindcast",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: Object.fromEntries([...components].toSorted(([a], [b]) => a < b ? -1 : 1)),
      securitySchemes: {
        session: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: `The cookie of a sign-in. Over https its name is __Secure-${SESSION_COOKIE}.`,
        },
        token: { type: "http", scheme: "bearer", description: "A token for programs: POST /api/tokens." },
        ingestionSecret: { type: "apiKey", in: "header", name: "x-ingestion-admin-secret" },
      },
    },
  };
}

type Components = Map<string, JsonSchema>;

/** A schema whose parts with an id are components. @param at Where its fields' words begin. */
function refer(schema: z.ZodType, side: "input" | "output", components: Components, ...at: string[]): JsonSchema {
  const { $schema: _version, $defs = {}, ...rest } = toJsonSchema(schema, side);
  for (const [id, part] of Object.entries($defs)) components.set(id, describeFields(publish(part, side), [id]));
  return describeFields(publish(rest, side), at);
}

/** Leads references to the components, and leaves answers open for new fields. */
function publish(schema: JsonSchema, side: "input" | "output"): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === "$ref" && typeof value === "string") return value.replace("#/$defs/", "#/components/schemas/");
    const isOurs = key === "id" || (key === "additionalProperties" && side === "output");
    return isOurs && typeof value !== "object" ? undefined : value;
  });
}

function describeRow(row: Route, components: Components): Json {
  const operation = OPERATIONS[row.procedure];
  if (operation === undefined) throw new Error(`Cannot describe ${row.procedure}: operations.ts has no entry for it`);
  const { input, output: own } = describeProcedure(row.procedure);
  const { parameters, body } = splitInput(row, input, components);
  const output = operation.output === undefined ? own : operation.output ?? undefined;
  const json = output === undefined
    ? {}
    : { "application/json": { schema: refer(output, "output", components, nameOperation(row), "answer") } };
  const media = Object.fromEntries((operation.media ?? []).map((type) => [type, { schema: { type: "string" } }]));
  const content = { ...json, ...media };
  const answer = {
    description: operation.summary,
    ...(row.status === 204 ? {} : { content }),
    headers: describeHeaders(operation.headers ?? {}),
  };
  const cached = row.method === "GET" && operation.headers?.ETag !== undefined;
  const unhealthy = ["health.get", "health.ready"].includes(row.procedure)
    ? { "503": { ...answer, content: orRefusal(content), description: "A part does not work, or the service closes." } }
    : {};
  return {
    operationId: nameOperation(row),
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    tags: [tagOf(row.path)],
    ...(row.access === "public" ? { security: [] } : { security: securityOf(row.access) }),
    parameters: [...parameters, ...describeRequestHeaders(operation.requestHeaders ?? {})],
    ...(body === undefined ? {} : { requestBody: withExample(body, operation.example) }),
    responses: {
      [row.status]: answer,
      ...(cached ? { "304": { description: "The client has this answer already." } } : {}),
      ...refusals(codesOf(row, operation.codes ?? [])),
      ...unhealthy,
    },
  };
}

/** JSON that may also be a refusal. */
function orRefusal(content: Readonly<Record<string, unknown>>): Json {
  const { schema } = Object(content["application/json"]);
  return { "application/json": { schema: { anyOf: [schema, { $ref: "#/components/schemas/Error" }] } } };
}

/** The keys of an input as parameters of the path and the query, and as a body. */
function splitInput(row: Route, input: z.ZodType | undefined, components: Components) {
  const { path, body, method } = row;
  const schema = input === undefined ? {} : refer(input, "input", components, nameOperation(row));
  const required = new Set(schema.required ?? []);
  const parameters: Json[] = [];
  const properties: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isInPath = path.includes(`:${name}`);
    if (!isInPath && (body === "json" || body === "optional")) properties[name] = property;
    else if (!isInPath && body === "csv" && name === "body") continue;
    else {
      const place = isInPath ? "path" : "query";
      const words = findWords([nameOperation(row), name]);
      parameters.push({
        name,
        in: place,
        required: isInPath || required.has(name),
        ...(words === undefined ? {} : { description: words.text }),
        schema: plainParameter(property),
      });
    }
  }
  if (body === "none" || method === "GET") return { parameters };
  const content = body === "csv" ? files() : {
    "application/json": {
      schema: { type: "object", properties, required: Object.keys(properties).filter((name) => required.has(name)) },
    },
  };
  return { parameters, body: { required: body !== "optional", content } };
}

function files(): Json {
  return Object.fromEntries(FILE_TYPES.map((type) => [type, { schema: { type: "string" } }]));
}

/** In a query everything is one text. */
function plainParameter(schema: unknown): unknown {
  const { anyOf }: { anyOf?: readonly Json[] } = typeof schema === "object" && schema !== null ? schema : {};
  return anyOf?.find(({ type }) => type !== "array") ?? schema;
}

function withExample(body: { required: boolean; content: Json }, example: unknown): Json {
  if (example === undefined) return body;
  const content = Object.entries(body.content).map(([type, media]) => [type, { ...Object(media), example }]);
  return { ...body, content: Object.fromEntries(content) };
}

function describeAccount(route: AccountRoute, components: Components): Json {
  const { method, path, summary, access, body, query, output, codes = [], example, setsCookie, refused } = route;
  const own: ErrorCode[] = access === "admin"
    ? ["UNAUTHENTICATED", "FORBIDDEN"]
    : access === "public"
    ? []
    : ["UNAUTHENTICATED"];
  const bodied: ErrorCode[] = method === "POST" ? ["ORIGIN_NOT_ALLOWED", "VALIDATION_FAILED", ...BODY_CODES] : [];
  const parameters = query === undefined ? [] : Object.entries(refer(query, "input", components).properties ?? {})
    .map(([name, schema]) => ({ name, in: "query", description: findWords([name])?.text, schema }));
  const headers = setsCookie === true ? { "Set-Cookie": "The session cookie." } : {};
  return {
    operationId: `auth${path.replaceAll(/[/-](\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary,
    tags: ["accounts"],
    security: access === "public" ? [] : [{ session: [] }],
    parameters,
    ...(body === undefined ? {} : {
      requestBody: withExample(
        { required: true, content: { "application/json": { schema: refer(body, "input", components) } } },
        example,
      ),
    }),
    responses: {
      "200": {
        description: summary,
        headers: describeHeaders(headers),
        content: { "application/json": { schema: refer(output, "output", components) } },
      },
      ...(body === undefined ? {} : { "422": LIBRARY_REFUSAL }),
      ...refusals([...codes, ...own, ...bodied, "RATE_LIMITED", "INTERNAL", "UNAVAILABLE"], accountRefusal),
      ...(refused === undefined ? {} : {
        "400": {
          description: "Not yet, or never.",
          content: {
            "application/json": { schema: { anyOf: [refer(refused, "output", components), accountRefusal()] } },
          },
        },
      }),
    },
  };
}

/** Every code that an operation may be refused with. */
function codesOf({ access, method, body, query, path, isLong }: Route, own: readonly ErrorCode[]): ErrorCode[] {
  const isUnsafe = method !== "GET";
  return [
    ...own,
    // A wrong token is refused on public paths, too.
    "UNAUTHENTICATED",
    ...(access === "public" ? [] : ["FORBIDDEN" as const]),
    ...(isUnsafe ? ["ORIGIN_NOT_ALLOWED" as const] : []),
    ...(query.size > 0 || path.includes(":") || isUnsafe || isLong ? ["VALIDATION_FAILED" as const] : []),
    ...(body === "none" ? [] : BODY_CODES),
    "RATE_LIMITED",
    "INTERNAL",
    "RECORD_UNREADABLE",
    "UNAVAILABLE",
  ];
}

function describeRequestHeaders(headers: Readonly<Record<string, string>>): Json[] {
  return Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  }));
}

function securityOf(access: Route["access"]): Json[] {
  if (access === "signed-in") return [{ session: [] }];
  const user = [{ session: [] }, { token: [] }];
  return access === "ingestion" ? [...user, { ingestionSecret: [] }] : user;
}

/** `backtestsStreams.list` as `backtestsList`. */
function nameOperation({ procedure }: Route): string {
  return procedure.replace("Streams", "").replaceAll(/\.(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function tagOf(path: string): string {
  const [, , first = "", second] = path.split("/");
  if (second === "ingestion") return "ingestion";
  const tags: Record<string, string> = {
    session: "accounts",
    tokens: "accounts",
    admin: "accounts",
    agents: "accounts",
    "market-data": "market data",
    health: "service",
  };
  return tags[first] ?? first;
}
