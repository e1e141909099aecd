import { z } from "zod";
import type { CHECK_FORMATS, SandboxRuntime } from "../../db/schema.ts";
import { PERIODS } from "../../engine/portfolio/portfolio.ts";
import { isServedName, judgeUrl } from "../../workers/egress/rules.ts";
import { AppError, mustBe } from "../common/errors.ts";
import { inputObject, optionalKeys, withoutNulls } from "../common/input_object.ts";
import type { Parameters } from "./parameters.ts";

const TIMEOUT_MS = 10_000;
const TIMEOUT_MS_MAX = 60_000;
const LOOKBACK_CANDLES_MAX = 10_000;
const MODULE_BYTES_MAX = 4 * 1024 * 1024;
const SOURCE_CHARS_MAX = 256 * 1024;

export const lookbackSchema = z.int().min(0).max(LOOKBACK_CANDLES_MAX);
export const languageSchema = z.string().min(1).max(40);

// The workers resolve host names and check their addresses.
const webAddress = z.string().max(2000).refine((text) => {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}, mustBe("an http or https address without credentials"));

// A name stands for programs of the strategy's owner.
const endpointAddress = z.string().max(2000).refine(
  (text) => isServedName(text) || webAddress.safeParse(text).success,
  mustBe("an http or https address without credentials, or serve:NAME with lower-case letters, digits and hyphens"),
);

export const artifactSchema = inputObject({
  file_name: z.string().max(255).default("module.wasm"),
  content_base64: z.string(),
  content_type: z.string().max(100).default("application/wasm"),
});

const remoteSchema = z.strictObject({
  type: z.literal("remote"),
  language: languageSchema.optional(),
  lookbackCandles: lookbackSchema.optional(),
  endpoint: endpointAddress,
  timeoutMs: z.int().min(1).max(TIMEOUT_MS_MAX).default(TIMEOUT_MS),
  mode: z.enum(["batch", "step", "portfolio"]).default("batch"),
  every: z.enum(PERIODS).describe("How often an endpoint of mode portfolio is asked; absent: at each close").optional(),
});

const wasmSchema = z.strictObject({
  type: z.literal("wasm"),
  language: languageSchema.optional(),
  lookbackCandles: lookbackSchema.optional(),
  moduleUrl: webAddress.optional(),
  artifact: artifactSchema.optional(),
});

const scriptSchema = z.strictObject({
  type: z.literal("script"),
  language: z.enum(["typescript", "javascript", "python"]).optional(),
  lookbackCandles: lookbackSchema.optional(),
  source: z.string().min(1).max(SOURCE_CHARS_MAX),
});

const eitherSchema = z.discriminatedUnion("type", [remoteSchema, wasmSchema, scriptSchema], {
  error: (issue) => issue.code === "invalid_union" ? describeType(issue.input) : undefined,
});
const REMOTE_KEYS = optionalKeys(remoteSchema.partial().shape);
const WASM_KEYS = optionalKeys(wasmSchema.partial().shape);
const SCRIPT_KEYS = optionalKeys(scriptSchema.partial().shape);

/** The runtime of a version, registered or inline. It may have the other types' keys, as null. */
export const runtimeConfigSchema = z.preprocess(
  (input: z.input<typeof eitherSchema>): unknown =>
    withoutNulls(input, new Set([...REMOTE_KEYS, ...WASM_KEYS, ...SCRIPT_KEYS])),
  eitherSchema,
);

function describeType(config: unknown): string {
  const given = typeof config === "object" && config !== null && "type" in config;
  return given ? mustBe('"remote", "wasm" or "script"').error({ input: config.type }) : "is required";
}

type RuntimeConfig = z.infer<typeof runtimeConfigSchema>;
type Artifact = z.infer<typeof artifactSchema>;

/**
 * Refuses a URL whose host is an address that is not public. The workers check host names at each call.
 *
 * @param allow `host:port` pairs that are allowed although they are not public.
 * @param path The JSON pointer of runtime_config in the request.
 * @throws AppError ENDPOINT_NOT_ALLOWED
 */
export function requireAllowed(config: RuntimeConfig, allow: ReadonlySet<string>, path: string): void {
  if (config.type === "script") return;
  const [key, address] = config.type === "remote" ? ["endpoint", config.endpoint] : ["moduleUrl", config.moduleUrl];
  if (address === undefined || (config.type === "remote" && isServedName(address))) return;
  const judged = judgeUrl(address, allow);
  if (!("reason" in judged)) return;
  const { host, reason } = judged;
  throw new AppError("ENDPOINT_NOT_ALLOWED", `Cannot call the endpoint ${host}: ${reason}`, {
    issues: [{ path: `${path}/${key}`, message: `must be public, not ${host}: ${reason}` }],
  });
}

/** The source of a module or a script: bytes in the request, or a URL that a worker fetches; and the key that it came from. */
export type ModuleSource =
  & { readonly path: string; readonly format: (typeof CHECK_FORMATS)[number] }
  & (
    | { readonly data: Uint8Array; readonly moduleUrl: null }
    | { readonly data: null; readonly moduleUrl: string }
  );

/**
 * Finds the one source of a version's module, or the text of its script.
 *
 * @param path The JSON pointer of runtime_config in the request.
 * @param beside An artifact beside runtime_config instead of inside, and its JSON pointer.
 * @throws AppError VALIDATION_FAILED when there is none or more than one, PAYLOAD_TOO_LARGE
 */
export function moduleSource(
  config: Exclude<RuntimeConfig, { type: "remote" }>,
  path: string,
  beside?: { readonly artifact: Artifact | undefined; readonly path: string },
): ModuleSource {
  if (config.type === "script") {
    const data = new TextEncoder().encode(config.source);
    return { format: checkFormat(config), data, moduleUrl: null, path: `${path}/source` };
  }
  const given = [config.moduleUrl, config.artifact, beside?.artifact].filter((source) => source !== undefined);
  const uploaded = config.artifact === undefined ? beside : { artifact: config.artifact, path: `${path}/artifact` };
  if (given.length !== 1) {
    const message = `must have either a moduleUrl or an artifact, not ${given.length === 0 ? "none" : "both"}`;
    throw new AppError("VALIDATION_FAILED", `Cannot find the module: ${path} ${message}`, {
      issues: [{ path, message }],
    });
  }
  if (uploaded?.artifact === undefined) {
    return { format: "wasm", data: null, moduleUrl: config.moduleUrl ?? "", path: `${path}/moduleUrl` };
  }
  const content = `${uploaded.path}/content_base64`;
  return { format: "wasm", data: decodeArtifact(uploaded.artifact, content), moduleUrl: null, path: content };
}

function decodeArtifact(artifact: Artifact, path: string): Uint8Array {
  let data: Uint8Array;
  try {
    data = Uint8Array.fromBase64(artifact.content_base64);
  } catch {
    const message = "must be base64";
    throw new AppError("VALIDATION_FAILED", `Cannot read the module: ${path} ${message}`, {
      issues: [{ path, message }],
    });
  }
  if (data.byteLength <= MODULE_BYTES_MAX) return data;
  throw new AppError(
    "PAYLOAD_TOO_LARGE",
    `Cannot store a module of ${data.byteLength} bytes: at most ${MODULE_BYTES_MAX} are accepted`,
  );
}

/** A config whose script is in its strategy's language, where it does not say so itself. */
export function withLanguage(config: RuntimeConfig, language: string): RuntimeConfig {
  const isPython = config.type === "script" && config.language === undefined && /^python$/i.test(language);
  return isPython ? { ...config, language: "python" } : config;
}

/** How the code of a config is checked. */
export function checkFormat(config: Exclude<RuntimeConfig, { type: "remote" }>): ModuleSource["format"] {
  return config.type === "script" && config.language === "python" ? "python" : config.type;
}

/**
 * A config as it is stored and shown: without an artifact's content and a script's source, which are stored separately, and with what the
 * check of its code has found.
 */
export function toStored(
  config: RuntimeConfig,
  beside: Artifact | undefined,
  code: { readonly decidesOn?: "markets" } | null,
): Record<string, unknown> {
  return { ...withoutContent(config, beside), ...(code?.decidesOn && { decidesOn: code.decidesOn }) };
}

function withoutContent(config: RuntimeConfig, beside: Artifact | undefined): Record<string, unknown> {
  if (config.type === "remote") return { ...config };
  if (config.type === "script") {
    const { source: _source, ...rest } = config;
    return rest;
  }
  const artifact = config.artifact ?? beside;
  if (artifact === undefined) return { ...config };
  return { ...config, artifact: { file_name: artifact.file_name, content_type: artifact.content_type } };
}

/** A config as other users see it: the location of the code is the owner's secret. */
export function withoutAddress(config: Parameters): Record<string, unknown> {
  const { endpoint: _endpoint, moduleUrl: _moduleUrl, ...rest } = config;
  return rest;
}

/** A config whose code is stored by its hash */
export function parseStored(config: Parameters): z.ZodSafeParseResult<RuntimeConfig> {
  const { artifact: _artifact, moduleUrl: _moduleUrl, decidesOn: _decidesOn, ...rest } = config;
  // The source of a script is required where it is given.
  return runtimeConfigSchema.safeParse(rest.type === "script" ? { ...rest, source: "stored" } : rest);
}

/**
 * The runtime that a worker needs for a version.
 *
 * @param sha256 The module's hash; null for a remote strategy.
 * @param ownerId The strategy's owner: of all programs, only theirs answer for it.
 */
export function sandboxRuntime(
  config: Parameters,
  sha256: string | null,
  { minCandles, lookbackCandles, ownerId }: {
    readonly minCandles: number;
    readonly lookbackCandles: number;
    readonly ownerId: string;
  },
): SandboxRuntime {
  const { data: parsed, error } = parseStored(config);
  if (error !== undefined) throw error;
  const lookback = { minCandles, lookbackCandles: parsed.lookbackCandles ?? lookbackCandles };
  if (parsed.type !== "remote") {
    if (sha256 === null) throw new Error("Cannot run a version without the hash of its code");
    const decides = config["decidesOn"] === "markets" ? { decidesOn: "markets" } as const : {};
    const isPython = parsed.type === "script" && parsed.language === "python";
    return { type: parsed.type, sha256, ...lookback, ...(isPython && { language: "python" }), ...decides };
  }
  const { endpoint, mode, timeoutMs, every } = parsed;
  return {
    type: "remote",
    endpoint,
    mode,
    timeoutMs,
    ...lookback,
    ...(every && { every }),
    ...(isServedName(endpoint) ? { servedBy: ownerId } : {}),
  };
}
