/** Fields for a strategy's own parameters, as its parameter_schema describes them. */

/** A property of a strategy's parameter schema, as far as a form reads it. */
export interface ParameterField {
  readonly name: string;
  /** The JSON types that it may have; none where any fits. */
  readonly types: readonly string[];
  readonly description: string;
  readonly choices: readonly unknown[] | null;
  readonly default: unknown;
  readonly isRequired: boolean;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly exclusiveMinimum: number | null;
  readonly exclusiveMaximum: number | null;
}

/** A parameter_schema and a default_config, as the catalogue has them. */
interface ParameterRules {
  readonly parameter_schema: Readonly<Record<string, unknown>>;
  readonly default_config: Readonly<Record<string, unknown>>;
}

/** The fields of a strategy's own parameters, in the order in which its schema has them; the form has its own for the timeframe. */
export function fieldsOf({ parameter_schema: schema, default_config: defaults }: ParameterRules): ParameterField[] {
  const { properties, required } = schema;
  if (!isRecord(properties)) return [];
  return Object.entries(properties).filter(([name]) => name !== "timeframe" && name !== "session").map(
    ([name, property]) => {
      const rules = isRecord(property) ? property : {};
      const { type, description, enum: choices } = rules;
      return {
        name,
        types: [type].flat().filter((each) => typeof each === "string"),
        description: typeof description === "string" ? description : "",
        choices: Array.isArray(choices) ? choices : null,
        default: defaults[name] ?? rules["default"],
        isRequired: Array.isArray(required) && required.includes(name),
        minimum: readNumber(rules["minimum"]),
        maximum: readNumber(rules["maximum"]),
        exclusiveMinimum: readNumber(rules["exclusiveMinimum"]),
        exclusiveMaximum: readNumber(rules["exclusiveMaximum"]),
      };
    },
  );
}

/** True for a parameter of numbers; where no type is said, its default decides. */
export function isNumber({ types, default: value }: Pick<ParameterField, "types" | "default">): boolean {
  return types.length === 0
    ? typeof value === "number"
    : types.every((type) => type === "integer" || type === "number");
}

/** The same for whole numbers. */
export function isWholeNumber({ types, default: value }: Pick<ParameterField, "types" | "default">): boolean {
  return types.length === 0 ? Number.isInteger(value) : types.every((type) => type === "integer");
}

/** A value as a field shows it. */
export function toField(value: unknown): string | boolean {
  if (typeof value === "boolean" || typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** The value that was typed; undefined for none. */
export function fromField({ types, choices }: ParameterField, typed: string | boolean): unknown {
  if (typeof typed === "boolean") return typed;
  if (typed.trim() === "") return undefined;
  if (choices !== null) return choices.find((choice) => String(toField(choice)) === typed) ?? typed;
  if (types.length === 1 && types[0] === "string") return typed;
  return parseJson(typed.trim()) ?? typed;
}

/** Why a value cannot be what a parameter wants; undefined where it can. The service knows the rest of the schema. */
export function findFault(field: ParameterField, typed: string | boolean): string | undefined {
  const value = fromField(field, typed);
  const { types, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = field;
  if (value === undefined) return field.isRequired && field.default === undefined ? "Enter a value" : undefined;
  if (typeof value === "number") {
    if (minimum !== null && value < minimum) return `Enter ${minimum} or more`;
    if (maximum !== null && value > maximum) return `Enter ${maximum} or less`;
    if (exclusiveMinimum !== null && value <= exclusiveMinimum) return `Enter more than ${exclusiveMinimum}`;
    if (exclusiveMaximum !== null && value >= exclusiveMaximum) return `Enter less than ${exclusiveMaximum}`;
  }
  if (types.length === 0 || types.some((type) => hasType(value, type))) return undefined;
  return `Enter ${types.map((type) => KINDS[type] ?? type).join(" or ")}`;
}

/** Says in words which values a field accepts. */
export function describeBounds({ types, default: value, ...bounds }: ParameterField): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = bounds;
  const range = [
    minimum !== null && maximum !== null ? `${minimum} to ${maximum}` : "",
    minimum !== null && maximum === null ? `at least ${minimum}` : "",
    minimum === null && maximum !== null ? `at most ${maximum}` : "",
    exclusiveMinimum !== null ? `more than ${exclusiveMinimum}` : "",
    exclusiveMaximum !== null ? `less than ${exclusiveMaximum}` : "",
  ];
  const kinds = types.filter((type) => type !== "string" && type !== "boolean").map((type) => NOUNS[type] ?? type);
  const fallback = value === undefined ? "" : `default ${JSON.stringify(value)}`;
  return [kinds.join(" or "), ...range, fallback].filter((part) => part !== "").join(", ");
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const KINDS: Readonly<Record<string, string>> = {
  integer: "a whole number",
  number: "a number",
  string: "a text",
  boolean: "true or false",
  array: "a list such as [1, 2]",
  object: 'an object such as {"a": 1}',
};

const NOUNS: Readonly<Record<string, string>> = {
  integer: "whole number",
  array: "list in JSON",
  object: "object in JSON",
};

function hasType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "null") return value === null;
  const kind: string = typeof value;
  return kind === type;
}

function readNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** @returns undefined for a text that is no JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
