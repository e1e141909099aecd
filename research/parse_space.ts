import { countDecimals, fromUnits, toUnits } from "./decimal.ts";
import { type Issue, type Parsed, parsed, quote, step as pointerStep } from "./issue.ts";
import { type Axis, countPoints, type ListedAxis, type ParameterValue, type Space, type SteppedAxis } from "./space.ts";

export const SPACE_PARAMETERS_MAX = 16;
/** Most values that a list names. */
export const SPACE_VALUES_MAX = 1_000;
export const PARAMETER_NAME_LENGTH_MAX = 200;
/** Most characters of a value that is a text. */
const TEXT_LENGTH_MAX = 200;
/** These change the candles or the rules of a run and not the strategy. */
const RESERVED = ["timeframe", "session", "runtime", "execution"];

type JsonObject = Readonly<Record<string, unknown>>;
type Report = (message: string, key?: string) => undefined;

/**
 * Reads the space of an optimization. Each value on its own must fit the schema of its parameter: its type, enum, const,
 * bounds and multipleOf. Rules between parameters are not looked at.
 *
 * @param space `{name: {"min", "max", "step"} | {"values": […]}}` as it came; step may be absent where the schema has a
 *   whole number or multipleOf. Absent: each parameter that the schema bounds and that is not fixed; numbers without
 *   multipleOf are left out, since nothing gives their step.
 * @param schema The strategy's parameter_schema.
 * @param fixed The names of the parameters that have a value of their own.
 * @returns The space, its numeric lists in ascending order; or an issue for each wrong part, its path from the space on.
 */
export function parseSpace(space: unknown, schema: JsonObject, fixed: readonly string[] = []): Parsed<Space> {
  const issues: Issue[] = [];
  const given = space ?? spaceOfSchema(schema, fixed);
  if (!isObject(given)) return refuseSpace(`must be an object of parameters, not ${quote(given)}`);
  const names = Object.keys(given);
  if (names.length === 0) {
    const why = space === undefined || space === null ? ": the schema bounds none that is not fixed" : "";
    return refuseSpace(`must have at least one parameter${why}`);
  }
  if (names.length > SPACE_PARAMETERS_MAX) {
    return refuseSpace(`must have at most ${SPACE_PARAMETERS_MAX} parameters, not ${names.length}`);
  }
  const long = names.find((name) => name.length > PARAMETER_NAME_LENGTH_MAX);
  if (long !== undefined) {
    const message = `must have names of at most ${PARAMETER_NAME_LENGTH_MAX} characters, not ${long.length}`;
    return refuseSpace(`${message}: ${quote(long)}`);
  }
  const axes = names.flatMap((name) => {
    const report: Report = (message, key) => {
      issues.push({ path: pointerStep(name) + (key === undefined ? "" : `/${key}`), message });
    };
    return readAxis(name, given[name], { schema, fixed, report }) ?? [];
  });
  const points = countPoints({ axes });
  if (issues.length === 0 && !Number.isSafeInteger(points)) {
    return refuseSpace(`must have at most ${Number.MAX_SAFE_INTEGER} points, not about ${points.toExponential(1)}`);
  }
  return parsed({ axes }, issues);
}

function refuseSpace(message: string): Parsed<Space> {
  return parsed<Space>({ axes: [] }, [{ path: "", message }]);
}

interface Reading {
  readonly schema: JsonObject;
  readonly fixed: readonly string[];
  readonly report: Report;
}

function readAxis(name: string, given: unknown, { schema, fixed, report }: Reading): Axis | undefined {
  const properties = propertiesOf(schema);
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (RESERVED.includes(name)) return report("is reserved and cannot vary: give it in parameters");
  if (property === undefined && schema["additionalProperties"] === false) {
    const known = Object.keys(properties).filter((each) => !RESERVED.includes(each)).map(quote);
    return report(`is not a known parameter; there are ${known.join(", ") || "none"}`);
  }
  if (fixed.includes(name)) return report("is fixed in parameters: leave it out there or here");
  if (!isObject(given)) return report(`must be {"min", "max", "step"} or {"values"}, not ${quote(given)}`);
  const rules = isObject(property) ? property : {};
  return "values" in given ? readList(name, given, rules, report) : readSteps(name, given, rules, report);
}

function readList(name: string, given: JsonObject, rules: JsonObject, report: Report): ListedAxis | undefined {
  const extra = Object.keys(given).find((key) => key !== "values");
  if (extra !== undefined) return report(`must not stand beside values`, extra);
  const { values } = given;
  if (!Array.isArray(values) || values.length === 0) {
    return report(`must be a list of at least one value, not ${quote(values)}`, "values");
  }
  if (values.length > SPACE_VALUES_MAX) {
    return report(`must have at most ${SPACE_VALUES_MAX} values, not ${values.length}`, "values");
  }
  const seen = new Set<ParameterValue>();
  for (const [i, value] of values.entries()) {
    if (!isParameterValue(value)) {
      return report(`must be a number, true, false or a text of at most ${TEXT_LENGTH_MAX} characters`, `values/${i}`);
    }
    const misfit = describeMisfit(value, rules);
    if (misfit !== null) return report(`${misfit}, not ${quote(value)}`, `values/${i}`);
    if (seen.has(value)) return report(`names ${quote(value)} twice`, `values/${i}`);
    // A negative zero is the zero that JSON gives back.
    seen.add(value === 0 ? 0 : value);
  }
  const numbers = [...seen].filter((value) => typeof value === "number");
  const ordered = numbers.length === seen.size ? numbers.sort((a, b) => a - b) : [...seen];
  return { name, count: ordered.length, values: ordered };
}

function readSteps(name: string, given: JsonObject, rules: JsonObject, report: Report): SteppedAxis | undefined {
  const extra = Object.keys(given).find((key) => !["min", "max", "step"].includes(key));
  if (extra !== undefined) return report(`is not known: use min, max and step, or values`, extra);
  const { min, max } = given;
  const step = given["step"] ?? stepOf(rules);
  if (!isFinite(min)) return report(`must be a number, not ${quote(min)}`, "min");
  if (!isFinite(max)) return report(`must be a number, not ${quote(max)}`, "max");
  if (!isFinite(step)) return report(`must be a number, not ${quote(given["step"])}`, "step");
  if (step <= 0) return report(`must be more than 0, not ${step}`, "step");
  if (min > max) return report(`must not be above max: ${min} is above ${max}`, "min");
  const decimals = countDecimals([min, max, step]);
  const [first, last, width] = [min, max, step].map((number) => toUnits(number, decimals));
  if (first === undefined || last === undefined || width === undefined) {
    return report("must have fewer digits: min, max and step together are not exact", "step");
  }
  const count = Math.floor((last - first) / width) + 1;
  if (!Number.isSafeInteger(last - first)) return report("must be closer to max", "min");
  const axis = { name, count, first, step: width, decimals };
  const misfit = describeEndMisfit(axis, rules);
  return misfit === null ? axis : report(misfit.message, misfit.key);
}

/** All values fit if both ends do, and if the first two do where only multiples fit. */
function describeEndMisfit({ first, step, count, decimals }: SteppedAxis, rules: JsonObject) {
  const end = first + (count - 1) * step;
  const checks = [["min", first], ["max", end], ["step", count > 1 ? first + step : first]] as const;
  for (const [key, units] of checks) {
    const value = fromUnits(units, decimals);
    const misfit = describeMisfit(value, rules);
    if (misfit !== null) return { key, message: `gives ${value}, which ${misfit}` };
  }
  if (Array.isArray(rules["enum"]) || "const" in rules) {
    return { key: "step", message: "cannot be used: the schema lists the values, so list them here too" };
  }
  return null;
}

/** The step that a parameter's schema implies; undefined: none. */
export function stepOf(rules: JsonObject): number | undefined {
  const { type, multipleOf } = rules;
  if (isFinite(multipleOf)) return multipleOf;
  return type === "integer" ? 1 : undefined;
}

function spaceOfSchema(schema: JsonObject, fixed: readonly string[]): JsonObject {
  const entries = Object.entries(propertiesOf(schema)).filter(([name]) =>
    !RESERVED.includes(name) && !fixed.includes(name)
  );
  return Object.fromEntries(entries.flatMap(([name, rules]) => {
    const axis = isObject(rules) ? axisOfRules(rules) : undefined;
    return axis === undefined ? [] : [[name, axis]];
  }));
}

function axisOfRules(rules: JsonObject): JsonObject | undefined {
  if (Array.isArray(rules["enum"])) {
    const values = rules["enum"].filter(isParameterValue);
    return values.length === 0 || values.length > SPACE_VALUES_MAX ? undefined : { values };
  }
  if (rules["type"] === "boolean") return { values: [false, true] };
  const step = stepOf(rules);
  const [low, high] = [readBound(rules, "minimum", step), readBound(rules, "maximum", step)];
  if (step === undefined || low === undefined || high === undefined) return undefined;
  const decimals = countDecimals([low, high, step]);
  const [first, last, width] = [low, high, step].map((number) => toUnits(number, decimals));
  if (first === undefined || last === undefined || width === undefined) return undefined;
  const min = fromUnits(Math.ceil(first / width) * width, decimals);
  const max = fromUnits(Math.floor(last / width) * width, decimals);
  return min > max ? undefined : { min, max, step };
}

/** A bound, its own value included; a whole number may not take an exclusive one itself. */
function readBound(rules: JsonObject, key: "minimum" | "maximum", step = 0): number | undefined {
  const exclusive = rules[key === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum"];
  if (isFinite(exclusive)) return key === "minimum" ? exclusive + step : exclusive - step;
  const bound = rules[key];
  return isFinite(bound) ? bound : undefined;
}

/** A rule of a parameter's schema that a value breaks, in words; null: it fits. */
export function describeMisfit(value: ParameterValue, rules: JsonObject): string | null {
  const types = [rules["type"] ?? typeOf(value)].flat();
  if (!types.includes(typeOf(value)) && !(types.includes("integer") && Number.isInteger(value))) {
    return `must be of type ${types.join(" or ")}`;
  }
  const listed = "const" in rules ? [rules["const"]] : rules["enum"];
  if (Array.isArray(listed) && !listed.includes(value)) return `must be one of ${listed.map(quote).join(", ")}`;
  return typeof value === "number" ? describeNumberMisfit(value, rules) : null;
}

function describeNumberMisfit(value: number, rules: JsonObject): string | null {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = rules;
  if (isFinite(minimum) && value < minimum) return `must be at least ${minimum}`;
  if (isFinite(maximum) && value > maximum) return `must be at most ${maximum}`;
  if (isFinite(exclusiveMinimum) && value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
  if (isFinite(exclusiveMaximum) && value >= exclusiveMaximum) return `must be less than ${exclusiveMaximum}`;
  return isFinite(multipleOf) && !isMultiple(value, multipleOf) ? `must be a multiple of ${multipleOf}` : null;
}

function isMultiple(value: number, of: number): boolean {
  const decimals = countDecimals([value, of]);
  const [units, each] = [toUnits(value, decimals), toUnits(of, decimals)];
  return units !== undefined && each !== undefined && units % each === 0;
}

/** The schemas of single parameters, by name. */
export function propertiesOf(schema: JsonObject): JsonObject {
  const properties = schema["properties"];
  return isObject(properties) ? properties : {};
}

function typeOf(value: ParameterValue): string {
  return typeof value;
}

function isParameterValue(value: unknown): value is ParameterValue {
  if (typeof value === "string") return value.length <= TEXT_LENGTH_MAX;
  return typeof value === "boolean" || isFinite(value);
}

function isFinite(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
