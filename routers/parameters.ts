import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { z } from "zod";
import { AppError, type Issue, ISSUES_MAX, mustBe, pointer, quote } from "./errors.ts";

/** Keys of `parameters` that belong to the service; all others are the strategy's own. */
const RESERVED_PARAMETERS = ["timeframe", "runtime", "execution"] as const;

export type Parameters = Readonly<Record<string, unknown>>;

// A user's regular expression could occupy the API for ever, and a reference could be looked up.
const REFUSED_KEYWORDS = new Set(["pattern", "patternProperties", "$ref", "$dynamicRef", "$recursiveRef"]);
const SCHEMA_BYTES_MAX = 64 * 1024;
// The validator may compare each value with each part of the schema, and each list element with each other, and the API waits meanwhile.
// It also has room for some hundred thousand errors only. A hundred fully described numbers stay well below these limits.
const VALUES_MAX = 5_000;
const COMPARISONS_MAX = 75_000;
const LISTED_MAX = 20;

const JSON_TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
const typeSchema = z.enum(JSON_TYPES);
const ofObject = (property: z.ZodObject) =>
  z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string().min(1).max(100), property).default({}),
  });
const draftSchema = ofObject(z.looseObject({
  // With a misspelt type, no value would ever be valid.
  type: z.union([typeSchema, z.array(typeSchema).min(1)], mustBe(`one of ${JSON_TYPES.join(", ")}, or a list of them`))
    .optional(),
}));
// Registered strategies must stay readable when the rules for new ones change.
const registeredSchema = ofObject(z.looseObject({}));

/** A strategy's rules for its parameters. */
export interface ParameterRules {
  readonly name: string;
  readonly default_config: Parameters;
  readonly parameter_schema: Parameters;
}

/**
 * Checks that a parameter_schema can be used: a JSON Schema of an object, without regular expressions and references.
 *
 * @param path Its JSON pointer in the request, for the issues.
 * @throws AppError VALIDATION_FAILED
 */
export function checkParameterSchema(schema: Parameters, path: string): void {
  const parsed = draftSchema.safeParse(schema);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw refuse(`${path}${pointer(issue?.path ?? [])}`, issue?.message ?? "is not a JSON Schema");
  }
  if (JSON.stringify(schema).length > SCHEMA_BYTES_MAX) throw refuse(path, `must not exceed ${SCHEMA_BYTES_MAX} bytes`);
  const found = findRefused(schema, path);
  if (found !== undefined) throw refuse(found, "is a keyword that is not supported here");
  for (const key of RESERVED_PARAMETERS) {
    if (Object.hasOwn(parsed.data.properties, key)) throw refuse(`${path}/properties/${key}`, "is a reserved name");
  }
  try {
    validator(schema).validate({});
  } catch (error) {
    throw refuse(path, `is not a JSON Schema: ${error instanceof Error ? error.message : quote(error)}`);
  }
}

function findRefused(value: unknown, path: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    // A parameter may be named `pattern`: names are one level below `properties`.
    const isName = path.endsWith("/properties");
    const here = `${path}${pointer([key])}`;
    if (!isName && !Array.isArray(value) && REFUSED_KEYWORDS.has(key)) return here;
    const deeper = findRefused(inner, here);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/**
 * Validates a strategy's own parameters and fills in defaults.
 *
 * @param own The submitted parameters without the reserved keys.
 * @param path The parameters' JSON pointer in the request, for the issues.
 * @returns The schema's defaults, overridden by default_config, overridden by the submitted parameters.
 * @throws AppError INVALID_PARAMETERS with a pointer to each wrong one, a hundred at most, or where there are too many values to check.
 */
export function effectiveParameters(rules: ParameterRules, own: Parameters, path: string): Record<string, unknown> {
  const defaults = Object.entries(registeredSchema.parse(rules.parameter_schema).properties)
    .flatMap(([key, property]) => "default" in property ? [[key, property.default] as const] : []);
  const effective = {
    ...Object.fromEntries(defaults),
    ...withoutReserved(rules.default_config),
    ...withoutReserved(own),
  };
  const issues = findIssues(rules.parameter_schema, effective, path);
  const first = issues[0];
  if (first === undefined) return effective;
  throw new AppError("INVALID_PARAMETERS", `Cannot run ${rules.name}: ${first.path} ${first.message}`, { issues });
}

export function withoutReserved(parameters: Parameters): Record<string, unknown> {
  const reserved: readonly string[] = RESERVED_PARAMETERS;
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => !reserved.includes(key)));
}

function findIssues(schema: Parameters, value: Parameters, path: string): Issue[] {
  const valuesMax = Math.min(VALUES_MAX, Math.floor(COMPARISONS_MAX / countValues(schema)));
  const values = countValues(value);
  if (values > valuesMax) return [{ path, message: `must hold at most ${valuesMax} values, not ${values}` }];
  const { valid, errors } = validator(schema).validate(value);
  if (valid) return [];
  // The validator repeats the error of a part for each object around it.
  const innermost = errors.filter((error) => !["properties", "items", "additionalProperties"].includes(error.keyword));
  const told = innermost.length > 0 ? innermost : errors;
  return told.slice(0, ISSUES_MAX)
    .map((error) => ({ path: `${path}${error.instanceLocation.slice(1)}`, message: describe(error, schema, value) }));
}

/** Counts a value and all values inside it. */
function countValues(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, inner) => sum + countValues(inner), 1);
}

/** The error in the words of our other refusals. */
function describe(
  { keyword, keywordLocation, instanceLocation, error }: OutputUnit,
  schema: Parameters,
  whole: Parameters,
) {
  const rule = follow(schema, keywordLocation);
  const value = quote(follow(whole, instanceLocation));
  switch (keyword) {
    case "false":
      return `is not a known parameter${known(schema, instanceLocation)}`;
    case "type":
      return `must be of type ${[rule].flat().join(" or ")}, not ${value}`;
    case "enum":
      return `must be one of ${list([rule].flat())}, not ${value}`;
    case "minimum":
      return `must be at least ${quote(rule)}, not ${value}`;
    case "maximum":
      return `must be at most ${quote(rule)}, not ${value}`;
    case "exclusiveMinimum":
      return `must be more than ${quote(rule)}, not ${value}`;
    case "exclusiveMaximum":
      return `must be less than ${quote(rule)}, not ${value}`;
    default:
      return `is ${value}: ${error}`;
  }
}

/** Lists the known parameters beside an unknown one, to help with typing errors. */
function known(schema: Parameters, location: string): string {
  const owners = location.split("/").slice(1, -1).map((key) => `/properties/${key}`);
  const properties = follow(schema, `#${owners.join("")}/properties`);
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return names.length === 0 ? "" : `; there are ${list(names)}`;
}

function list(values: readonly unknown[]): string {
  const more = values.length - LISTED_MAX;
  return values.slice(0, LISTED_MAX).map(quote).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Resolves the validator's location: a JSON pointer behind `#`. */
function follow(whole: unknown, location: string): unknown {
  let value = whole;
  for (const part of location.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) break;
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}

function validator(schema: Parameters): Validator {
  const copy: Schema = { ...schema };
  return new Validator(copy, "2020-12", false);
}

function refuse(path: string, message: string): AppError {
  return new AppError("VALIDATION_FAILED", `Cannot use the parameter_schema: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
