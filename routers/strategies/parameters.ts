import { AppError, type Issue, pointer, quote } from "../common/errors.ts";
import { findUnstorable } from "../common/text.ts";
import { matchRules, Steps, TooManyStepsError } from "./match_rules.ts";
import { readRules, type Rules } from "./parameter_rules.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "../market_data/timeframe.ts";

/** Keys of `parameters` that belong to the service; all others are the strategy's own. */
export const RESERVED_PARAMETERS = [
  "timeframe",
  "session",
  "runtime",
  "execution",
  "instruments",
  "universe",
  "portfolio",
  "inputs",
] as const;

export type Parameters = Readonly<Record<string, unknown>>;

/** Most bytes of a strategy's default_config and parameter_schema together: every catalogue repeats them. */
const DESCRIPTION_BYTES_MAX = 64 * 1024;
/** Most bytes of a backtest's parameters, an inline module aside: every list of backtests repeats them. */
const PARAMETERS_BYTES_MAX = 16 * 1024;
// A thousand instruments with their dates.
const INSTRUMENTS_BYTES_MAX = 128 * 1024;
// Parameters of such names are the client's remarks, whatever the schema says.
const REMARK_PREFIX = "x-";

/** The schema of a registration that describes no parameter: what its code declares or reads stands in its place. */
export const NO_PARAMETERS: Parameters = { type: "object", properties: {} };

/** A strategy's rules for its parameters. */
export interface ParameterRules {
  readonly name: string;
  readonly default_config: Parameters;
  readonly parameter_schema: Parameters;
}

/**
 * Checks that a parameter_schema can be used: a JSON Schema of an object, of supported keywords alone.
 *
 * @param path Its JSON pointer in the request, for the issues.
 * @throws AppError VALIDATION_FAILED
 */
export function checkParameterSchema(schema: Parameters, path: string): void {
  // The check of a request's body has not seen the defaults that a class declares.
  const unstorable = findUnstorable(schema, path);
  if (unstorable !== undefined) throw refuseSchema(unstorable.path, unstorable.message);
  if (schema.type !== "object") throw refuseSchema(`${path}/type`, `must be "object", not ${quote(schema.type)}`);
  const rules = readRules(schema, path, (at, message) => {
    throw refuseSchema(at, message);
  });
  for (const key of ["runtime", "execution"]) {
    if (rules.properties?.has(key)) throw refuseSchema(`${path}/properties/${key}`, "is a reserved name");
  }
  const timeframe = rules.properties?.get("timeframe")?.default?.value ?? undefined;
  if (timeframe === undefined || parseTimeframe(timeframe) !== undefined) return;
  const message = `must be one of ${TIMEFRAME_WORDS.join(", ")}, not ${quote(timeframe)}`;
  throw refuseSchema(`${path}/properties/timeframe/default`, message);
}

/** Limits what a catalogue entry repeats of a strategy. @throws AppError VALIDATION_FAILED */
export function requireShortDescription({ default_config, parameter_schema }: Omit<ParameterRules, "name">): void {
  const bytes = countBytes(default_config) + countBytes(parameter_schema);
  if (bytes <= DESCRIPTION_BYTES_MAX) return;
  const path = "/strategy/parameter_schema";
  const message = `must be at most ${DESCRIPTION_BYTES_MAX} bytes together with default_config, not ${bytes}`;
  throw new AppError("VALIDATION_FAILED", `Cannot keep the strategy: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/**
 * Limits the parameters of a backtest, not counting a module that comes with them. A list of instruments has a limit of its own.
 *
 * @throws AppError VALIDATION_FAILED
 */
export function requireShortParameters(parameters: Parameters, path: string): void {
  const { instruments = null, ...others } = parameters;
  requireBytes(path, countBytes(others) - countInlineBytes(parameters.runtime), PARAMETERS_BYTES_MAX);
  requireBytes(`${path}/instruments`, countBytes(instruments), INSTRUMENTS_BYTES_MAX);
}

function requireBytes(path: string, bytes: number, most: number): void {
  if (bytes <= most) return;
  const message = `must be at most ${most} bytes, not ${bytes}`;
  throw new AppError("VALIDATION_FAILED", `Cannot accept the request: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

function countBytes(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length;
}

/** The bytes of the code inside an inline runtime. */
function countInlineBytes(runtime: unknown): number {
  if (typeof runtime !== "object" || runtime === null) return 0;
  const artifact = "artifact" in runtime ? runtime.artifact : null;
  const content = typeof artifact === "object" && artifact !== null && "content_base64" in artifact
    ? artifact.content_base64
    : "";
  const source = "source" in runtime ? runtime.source : "";
  return [content, source].reduce<number>((sum, each) => sum + (typeof each === "string" ? countBytes(each) : 0), 0);
}

/**
 * Validates a strategy's own parameters and fills in defaults.
 *
 * @param submitted The submitted parameters, with or without the reserved keys. The schema sees `timeframe` if it describes it.
 * @param path The parameters' JSON pointer in the request, for the issues.
 * @param schemaPath The schema's JSON pointer, if the request has it: a default that does not fit is an issue there.
 * @returns The schema's defaults, overridden by default_config, overridden by the submitted parameters. A submitted null that the schema
 *   does not take is absent.
 * @throws AppError INVALID_PARAMETERS with a pointer to each wrong one, a hundred at most, or where the check would take too long.
 */
export function effectiveParameters(
  strategy: ParameterRules,
  submitted: Parameters,
  path: string,
  schemaPath: string | null = null,
): Record<string, unknown> {
  const rules = readRules(strategy.parameter_schema, "");
  const given = { ...strategy.default_config, ...submitted };
  const defaults = defaultParameters(strategy, rules);
  let effective: Record<string, unknown> = {};
  const issues = findIssues((steps) => {
    effective = { ...defaults, ...withoutNulls(rules, withoutReserved(submitted), steps) };
    const seen = { ...effective, ...describedTimeframe(strategy, rules, submitted, steps) };
    return matchRules(rules, withoutRemarks(rules, seen), path, steps);
  }, path).map((issue) => blameDefault(issue, { rules, given, root: path, schemaPath }));
  const first = issues[0];
  if (first === undefined) return effective;
  throw new AppError("INVALID_PARAMETERS", `Cannot run ${strategy.name}: ${first.path} ${first.message}`, { issues });
}

/** The strategy's own ones among effective parameters that are not as their defaults. */
export function changedParameters(strategy: ParameterRules, effective: Parameters): Record<string, unknown> {
  const defaults = defaultParameters(strategy, readRules(strategy.parameter_schema, ""));
  const isChanged = ([name, value]: [string, unknown]) =>
    !name.startsWith(REMARK_PREFIX) && JSON.stringify(value) !== JSON.stringify(defaults[name]);
  return Object.fromEntries(Object.entries(withoutReserved(effective)).filter(isChanged));
}

/** The part of a default_config that its schema accepts by name: all of it, unless other names are refused. */
export function knownDefaults({ default_config, parameter_schema }: Omit<ParameterRules, "name">): Parameters {
  const { properties, additionalProperties } = readRules(parameter_schema, "");
  if (additionalProperties?.never !== true) return default_config;
  const own = withoutReserved(default_config);
  const isKnown = (name: string) =>
    !Object.hasOwn(own, name) || name.startsWith(REMARK_PREFIX) || properties?.has(name);
  return Object.fromEntries(Object.entries(default_config).filter(([name]) => isKnown(name)));
}

function defaultParameters({ default_config }: ParameterRules, rules: Rules): Record<string, unknown> {
  return { ...withoutReserved(defaultsOf(rules)), ...withoutReserved(default_config) };
}

/** Leaves out what is null where the schema takes no null, known or not: null for an optional field means that it is absent. */
function withoutNulls(rules: Rules, submitted: Parameters, steps: Steps): Parameters {
  const takesNull = (name: string) => {
    const rule = rules.properties?.get(name) ?? rules.additionalProperties;
    return rule === undefined || matchRules(rule, null, "", steps).length === 0;
  };
  return Object.fromEntries(Object.entries(submitted).filter(([name, value]) => value !== null || takesNull(name)));
}

/** The timeframe that is wanted: as submitted, else by default_config, else by the schema's default. Undefined where nobody wants one. */
export function wantedTimeframe(strategy: ParameterRules, submitted: Parameters): unknown {
  const { timeframe } = defaultsOf(readRules(strategy.parameter_schema, ""));
  return submitted.timeframe ?? strategy.default_config.timeframe ?? timeframe ?? undefined;
}

/** The timeframe as a schema that describes it sees it: in the spelling that the schema knows. */
function describedTimeframe(
  strategy: ParameterRules,
  rules: Rules,
  submitted: Parameters,
  steps: Steps,
): Parameters {
  const described = rules.properties?.get("timeframe");
  const wanted = wantedTimeframe(strategy, submitted);
  if (described === undefined || wanted === undefined) return {};
  const timeframe = parseTimeframe(wanted);
  const spellings = [wanted, ...TIMEFRAME_WORDS.filter((word) => parseTimeframe(word) === timeframe)];
  return { timeframe: spellings.find((each) => matchRules(described, each, "", steps).length === 0) ?? wanted };
}

function defaultsOf(rules: Rules): Record<string, unknown> {
  const properties = [...rules.properties ?? []];
  return Object.fromEntries(properties.flatMap(([name, rule]) => rule.default ? [[name, rule.default.value]] : []));
}

/**
 * Marks parameters that no schema declares: a script then refuses those that it does not read. The realm of scripts knows the mark
 * and keeps it from them (workers/sandbox/script/realm/parameters.ts).
 */
export function undeclared(parameters: Parameters): Parameters {
  return { ...parameters, "x-undeclared": true };
}

/** The strategy's own ones among parameters. */
export function withoutReserved<Value>(parameters: Readonly<Record<string, Value>>): Record<string, Value> {
  const reserved: readonly string[] = RESERVED_PARAMETERS;
  return Object.fromEntries(Object.entries(parameters).filter(([key]) => !reserved.includes(key)));
}

function findIssues(check: (steps: Steps) => Issue[], path: string): Issue[] {
  try {
    return check(new Steps()).map((issue) => withHint(issue, path));
  } catch (error) {
    if (error instanceof TooManyStepsError) return [{ path, message: error.message }];
    throw error;
  }
}

function withoutRemarks(rules: Rules, parameters: Parameters): Parameters {
  const isRemark = (name: string) => name.startsWith(REMARK_PREFIX) && !rules.properties?.has(name);
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !isRemark(name)));
}

/** Blames a wrong value that nobody gave on the schema's default, in the request's schema if it has one. */
function blameDefault(
  { path, message }: Issue,
  { rules, given, root, schemaPath }: {
    readonly rules: Rules;
    readonly given: Parameters;
    readonly root: string;
    readonly schemaPath: string | null;
  },
): Issue {
  const within = path.slice(root.length);
  const name = [...rules.properties?.keys() ?? []].find((each) => `${within}/`.startsWith(`${pointer([each])}/`));
  if (name === undefined || rules.properties?.get(name)?.default === undefined || (given[name] ?? null) !== null) {
    return { path, message };
  }
  return schemaPath === null
    ? { path, message: `${message}: that is the default in its parameter_schema` }
    : { path: `${schemaPath}/properties${pointer([name])}/default${within.slice(pointer([name]).length)}`, message };
}

/** Says how to send a parameter that the strategy does not know. */
function withHint({ path, message }: Issue, root: string): Issue {
  const name = path.slice(root.length + 1);
  if (!message.startsWith("is not a known parameter") || name.includes("/")) return { path, message };
  return { path, message: `${message}; to send it as a remark, name it ${quote(`${REMARK_PREFIX}${name}`)}` };
}

function refuseSchema(path: string, message: string): AppError {
  return new AppError("VALIDATION_FAILED", `Cannot use the parameter_schema: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
