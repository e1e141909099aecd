import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describeApi } from "../../server/openapi/document.ts";

/** The parts of an answer that the description of the API speaks of. */
interface SeenAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined where the body is no JSON. */
  readonly json: unknown;
}

interface DescribedAnswer {
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

interface Described {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, DescribedAnswer>> }>>>
  >;
  readonly components: object;
}

const DOCUMENT = "openapi.json";

let loaded: ReturnType<typeof load> | undefined;
const validators = new Map<string, ValidateFunction>();

/**
 * Checks an answer of the REST API against its description: the status, the content type, and the JSON, in which every field must be
 * described. A path or method that is not described must be refused as unknown.
 *
 * @throws Error naming what the description does not allow.
 */
export function checkDescribed(method: string, path: string, { status, headers, json }: SeenAnswer): void {
  const { pathname } = new URL(path, "http://x");
  if (!pathname.startsWith("/api/") || !/^(GET|POST|PATCH|DELETE)$/.test(method)) return;
  const { document, patterns, ajv } = loaded ??= load();
  const template = patterns.find(([pattern]) => pattern.test(pathname))?.[1];
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  // The library has more routes than the usual ones.
  if (operation === undefined && pathname.startsWith("/api/auth/")) return;
  const seen = `${method} ${path} ${status}`;
  if (operation === undefined) {
    if ([401, 403, 404, 405, 429, 503].includes(status)) return;
    throw new Error(`${seen}: openapi.json has no such operation`);
  }
  const answer = operation.responses[status];
  if (answer === undefined) throw new Error(`${seen}: openapi.json has no such status: ${JSON.stringify(json)}`);
  const type = headers.get("content-type")?.split(";")[0];
  if (type === undefined || answer.content === undefined) return;
  if (answer.content[type] === undefined) throw new Error(`${seen}: openapi.json has no content type ${type}`);
  if (type !== "application/json") return;
  const place = ["paths", template ?? "", method.toLowerCase(), "responses", status, "content", type, "schema"];
  const reference = `${DOCUMENT}#/${
    place.map((part) => encodeURIComponent(String(part).replaceAll("/", "~1"))).join("/")
  }`;
  const validate = validators.get(reference) ?? ajv.compile({ $ref: reference });
  validators.set(reference, validate);
  if (!validate(json)) {
    throw new Error(`${seen}: the answer is not as openapi.json says: ${ajv.errorsText(validate.errors)}`);
  }
}

function load() {
  const document: Described = close(describeApi());
  const patterns = Object.keys(document.paths)
    // A path without parameters counts before one with them.
    .toSorted((a, b) => a.split("{").length - b.split("{").length)
    .map((path) => [new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`), path] as const);
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  addFormats.default(ajv);
  ajv.addSchema(document, DOCUMENT);
  return { document, patterns, ajv };
}

/** Forbids fields that the description lacks, which readers must ignore but tests must notice. */
function close(value: unknown): Described {
  return JSON.parse(JSON.stringify(value), (_, inner) => {
    const isOpen = inner?.type === "object" && inner.properties !== undefined &&
      inner.additionalProperties === undefined;
    return isOpen && !isNarrowing(inner.properties) ? { ...inner, additionalProperties: false } : inner;
  });
}

/** True for the parts of a refusal's schema that only narrow its code. */
function isNarrowing(
  properties: Readonly<Record<string, { readonly type?: string; readonly properties?: object }>>,
): boolean {
  const [[name, { type, properties: inner = {} }] = ["", {}], ...more] = Object.entries(properties);
  if (more.length > 0) return false;
  return (name === "code" && type === undefined) || (name === "error" && Object.keys(inner).join() === "code");
}
