/** The form that registers a strategy or adds a version: its values, its submission, and the fields of a refusal. */
import type { Strategy, StrategyRequest } from "../../api.ts";
import { TIMEFRAMES } from "../../parts/candle_timeframes.ts";
import { languageOf } from "./editor/script_language.ts";
import { EXAMPLES } from "./script_examples.ts";
import { isRecord } from "../../parts/parameter_fields.ts";
import type { RuntimeConfig } from "./code_refusal.ts";
import type { AddWay } from "./strategies_search.ts";

/** How often mode `portfolio` may ask, beside at each close. */
export const PERIODS = ["day", "week", "month", "quarter"] as const;

/** The fields as typed. */
export interface RegistrationForm {
  name: string;
  slug: string;
  description: string;
  version: string;
  language: string;
  timeframe: string;
  lookback: string;
  schema: string;
  isPublic: boolean;
  endpoint: string;
  mode: "batch" | "step" | "portfolio";
  /** How often mode `portfolio` asks; empty: at each close. */
  every: "" | (typeof PERIODS)[number];
  /** The text of a script. */
  source: string;
  module: ModuleFile | null;
}

/** A module that was chosen. */
export interface ModuleFile {
  readonly name: string;
  readonly bytes: number;
  readonly base64: string;
}

const START_VALUES: RegistrationForm = {
  name: "",
  slug: "",
  description: "",
  version: "1.0.0",
  language: "",
  timeframe: "1d",
  lookback: "0",
  schema: '{\n  "type": "object",\n  "properties": {}\n}',
  isPublic: false,
  endpoint: "",
  mode: "batch",
  every: "",
  source: "",
  module: null,
};

/** The form's first values; a script begins with one that runs. */
export function startValues(way: AddWay): RegistrationForm {
  if (way !== "script") return START_VALUES;
  const [{ source, schema }] = EXAMPLES;
  return { ...START_VALUES, language: "typescript", source, schema: JSON.stringify(schema, null, 2) };
}

/** The form's first values for a script that begins as another one. */
export function copyValues(
  { name, description, language, default_frequency, lookback_candles, parameter_schema }: Strategy,
  source: string,
): RegistrationForm {
  return {
    ...START_VALUES,
    name: `${name} (copy)`,
    slug: toSlug(`${name} copy`),
    description,
    language,
    timeframe: TIMEFRAMES.find((each) => each === default_frequency) ?? START_VALUES.timeframe,
    lookback: String(lookback_candles),
    schema: isReadFromCode(parameter_schema) ? START_VALUES.schema : JSON.stringify(parameter_schema, null, 2),
    source,
  };
}

/** The remark of a schema that the service has made of a script. */
const READ_FROM_CODE = "Read from the code";

/** True for a schema of the names that a script reads, which nobody wrote: a changed script may read others. */
function isReadFromCode(schema: Strategy["parameter_schema"]): boolean {
  const { $comment, properties, additionalProperties } = schema;
  if ($comment === READ_FROM_CODE) return true;
  // Those of earlier versions say names alone.
  return additionalProperties === false && isRecord(properties) &&
    Object.values(properties).every((rules) => isRecord(rules) && Object.keys(rules).length === 0);
}

/** The schema of a script's form. That of an example goes once the text names other parameters: the service then reads them there. */
export function fitSchema({ source, schema }: Pick<RegistrationForm, "source" | "schema">): string {
  const example = EXAMPLES.find((each) => JSON.stringify(each.schema, null, 2) === schema);
  return example === undefined || source.includes(example.head) ? schema : START_VALUES.schema;
}

const SLUG_LENGTH_MAX = 64;

/** A slug for a name: `SMA Cross, fast` becomes `sma-cross-fast`. */
export function toSlug(name: string): string {
  const words = name.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").split(/[^a-z0-9]+/);
  return words.filter((word) => word !== "").join("-").slice(0, SLUG_LENGTH_MAX).replace(/-$/, "");
}

/** A version's number, such as 1.0.2. */
export const VERSION_RULE = { value: /^\d{1,9}(\.\d{1,9}){0,3}$/, message: "Enter a number such as 1.0.2" };

/** Why a text is no JSON object; undefined where it is one. @param advice Told where it is other JSON. */
export function findObjectFault(text: string, advice: string): string | undefined {
  try {
    return isRecord(JSON.parse(text)) ? undefined : advice;
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : error}`;
  }
}

/** The request that registers a strategy. */
export function toRegistration(form: RegistrationForm, way: AddWay): StrategyRequest {
  const isPython = way === "script" && languageOf(form.source) === "python";
  const parameter_schema: unknown = JSON.parse(way === "script" ? fitSchema(form) : form.schema);
  return {
    slug: form.slug.trim(),
    name: form.name.trim(),
    description: form.description.trim(),
    runtime_type: way,
    language: isPython ? "python" : form.language.trim(),
    default_frequency: form.timeframe,
    lookback_candles: Number(form.lookback),
    parameter_schema: isRecord(parameter_schema) ? parameter_schema : {},
    is_public: form.isPublic,
    initial_version: { version: form.version.trim(), runtime_config: toRuntimeConfig(form, way) },
  };
}

/** The code of a version. */
export function toRuntimeConfig(
  { source, module, endpoint, mode, every }: RegistrationForm,
  way: AddWay,
): RuntimeConfig {
  if (way === "script") return { type: "script", source, language: languageOf(source) };
  if (module === null) {
    const asks = mode === "portfolio" && every !== "" ? { every } : {};
    return { type: "remote", endpoint: endpoint.trim(), mode, ...asks };
  }
  return { type: "wasm", artifact: { file_name: module.name, content_base64: module.base64 } };
}

const FIELDS: readonly (readonly [prefix: string, field: keyof RegistrationForm])[] = [
  ["/strategy/name", "name"],
  ["/strategy/slug", "slug"],
  ["/strategy/description", "description"],
  ["/strategy/language", "language"],
  ["/strategy/default_frequency", "timeframe"],
  ["/strategy/lookback_candles", "lookback"],
  ["/strategy/parameter_schema", "schema"],
  ["/strategy/default_config", "schema"],
  ["/strategy/initial_version/version", "version"],
  ["/strategy/initial_version/runtime_config/endpoint", "endpoint"],
  ["/strategy/initial_version/runtime_config/mode", "mode"],
  ["/strategy/initial_version/runtime_config/every", "every"],
  ["/strategy/initial_version/runtime_config/source", "source"],
];

/** The field that a refusal's JSON pointer is about, and the place within it; null for the module and anything else. */
export function registrationFieldAt(path: string): { name: keyof RegistrationForm; place: string } | null {
  const found = FIELDS.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
  return found === undefined ? null : { name: found[1], place: path.slice(found[0].length) };
}

/** How a module's author names the language, by the ways of adding one. */
export const LANGUAGE_HINTS: Readonly<Record<AddWay, string>> = {
  script: "typescript or javascript",
  wasm: "Such as rust, c or assemblyscript",
  remote: "Such as python",
};
