import { AppError, ERROR_CODES, errorStatus } from "../../routers/common/errors.ts";
import { ERRORS } from "../../routers/common/error_codes.ts";
import words from "./field_words.json" with { type: "json" };

/**
 * The words of each field, under the end of its path: of `Backtest.result.notes`, the longest of `Backtest.result.notes`,
 * `result.notes` and `notes` that has an entry. A path begins with the name of a component, or of an operation, for an answer followed by `answer`.
 */
const WORDS: ReadonlyMap<string, string> = new Map([...Object.entries(words), ["Error.error.code", describeCodes()]]);

/** The entry that describes a field; undefined where none does. */
export function findWords(path: readonly string[]): { readonly key: string; readonly text: string } | undefined {
  for (let from = 0; from < path.length; from++) {
    const key = path.slice(from).join(".");
    const text = WORDS.get(key);
    if (text !== undefined) return { key, text };
  }
  return undefined;
}

const NESTED = new Set(["items", "additionalProperties", "anyOf", "oneOf", "allOf"]);

/** A schema, or a list of them, whose properties have their words, below a path. */
export function describeFields<Schema>(schema: Schema, path: readonly string[]): Schema;
export function describeFields(schema: unknown, path: readonly string[]): unknown {
  if (Array.isArray(schema)) return schema.map((each) => describeFields(each, path));
  if (!isObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "properties" && isObject(value)) return [key, describeProperties(value, path)];
      return [key, NESTED.has(key) ? describeFields(value, path) : value];
    }),
  );
}

function describeProperties(properties: object, path: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const own = [...path, name];
      // A component describes itself.
      if (isObject(property) && "$ref" in property) return [name, property];
      const words = findWords(own);
      return [name, { ...(words === undefined ? {} : { description: words.text }), ...describeFields(property, own) }];
    }),
  );
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Every code with its status and meaning. */
function describeCodes(): string {
  const lines = ERROR_CODES.map((code) =>
    `- \`${code}\` (${errorStatus(new AppError(code, ""))}): ${ERRORS[code].meaning}`
  );
  return ["Codes are stable:", "", ...lines].join("\n");
}
