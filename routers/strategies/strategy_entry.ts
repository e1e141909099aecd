import { z } from "zod";
import { RUNTIME_TYPES, SOURCE_ACCESS } from "../../db/schema.ts";
import { schemaOf, type StrategyRow, type StrategyVersion } from "../../db/strategies.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import type { BuiltinDescription } from "../../strategies/builtin/catalogue/descriptions.ts";
import { recordReader } from "../common/stored_records.ts";
import { withoutAddress } from "./runtime_config.ts";

const freeForm = z.record(z.string(), z.unknown());

/** A strategy as the catalogue shows it, built-in or registered. */
export const entrySchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  source: z.enum(["builtin", "registry"]),
  runtime_type: z.enum(["builtin", ...RUNTIME_TYPES]),
  language: z.string(),
  /** One market by itself, or all markets of a portfolio at once. */
  decides_on: z.enum(["market", "markets"]),
  default_frequency: z.string(),
  min_candles: z.int(),
  lookback_candles: z.int(),
  default_config: freeForm,
  parameter_schema: freeForm,
  is_public: z.boolean(),
  source_access: z.enum(SOURCE_ACCESS),
  is_owner: z.boolean(),
  latest_version: z.string(),
  /** Can be pasted into a backtest's parameters as it is. */
  runtime: z.looseObject({
    type: z.enum(["builtin", ...RUNTIME_TYPES]),
    slug: z.string(),
    version: z.string(),
    language: z.string(),
    lookbackCandles: z.int(),
  }),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
}).meta({ id: "Strategy" });

export type Entry = z.infer<typeof entrySchema>;

/** An entry in a list of summaries. */
export const entrySummarySchema = entrySchema.omit({ default_config: true, parameter_schema: true })
  .meta({ id: "StrategySummary" });

export function entrySummary(
  { default_config: _config, parameter_schema: _schema, ...entry }: Entry,
): z.infer<typeof entrySummarySchema> {
  return entry;
}

/** A version as it is listed; the module's content is not repeated. */
export const versionSchema = z.object({
  version: z.string(),
  runtime_config: freeForm,
  sha256: z.string().nullable(),
  size_bytes: z.int().nullable(),
  created_at: z.iso.datetime().nullable(),
}).meta({ id: "Version" });

export type Version = z.infer<typeof versionSchema>;

const BUILTIN_LANGUAGE = "typescript";

/** A built-in strategy's entry. */
export function builtinEntry(builtin: BuiltinDescription): Entry {
  const { slug, name, description, default_frequency, min_candles, lookback_candles } = builtin;
  const shown = { slug, name, description, default_frequency, min_candles, lookback_candles };
  return {
    ...shown,
    default_config: {},
    parameter_schema: { ...builtin.parameter_schema },
    source: "builtin",
    runtime_type: "builtin",
    language: BUILTIN_LANGUAGE,
    decides_on: builtin.decides_on,
    is_public: true,
    source_access: "hidden",
    is_owner: false,
    latest_version: ENGINE_VERSION,
    runtime: {
      type: "builtin",
      slug: builtin.slug,
      version: ENGINE_VERSION,
      language: BUILTIN_LANGUAGE,
      lookbackCandles: builtin.lookback_candles,
    },
    created_at: null,
    updated_at: null,
  };
}

/** A built-in strategy's one version: the engine's. */
export function builtinVersion(builtin: BuiltinDescription): Version {
  const { version, slug: _slug, ...config } = builtinEntry(builtin).runtime;
  return { version, runtime_config: config, sha256: null, size_bytes: null, created_at: null };
}

/** A registered strategy's entry as a user sees it. @throws {UnreadableRecord} */
export const registryEntry = recordReader(({ strategy }) => `strategy ${strategy.slug}`, entrySchema, showEntry);

function showEntry({ strategy, latest }: StrategyRow, userId: string): Entry {
  const isOwner = strategy.ownerId === userId;
  const language = languageOf(strategy, latest);
  const { artifact: _artifact, ...config } = registryVersion(latest, isOwner).runtime_config;
  return {
    slug: strategy.slug,
    name: strategy.name,
    description: strategy.description,
    source: "registry",
    runtime_type: strategy.runtimeType,
    language,
    decides_on: decidesOn(latest.runtimeConfig),
    default_frequency: strategy.defaultFrequency,
    min_candles: strategy.minCandles,
    lookback_candles: strategy.lookbackCandles,
    default_config: { ...strategy.defaultConfig },
    parameter_schema: { ...schemaOf(strategy, latest) },
    is_public: strategy.isPublic,
    source_access: strategy.sourceAccess,
    is_owner: isOwner,
    latest_version: latest.version,
    runtime: {
      language,
      lookbackCandles: strategy.lookbackCandles,
      ...config,
      type: strategy.runtimeType,
      slug: strategy.slug,
      version: latest.version,
    },
    created_at: strategy.createdAt.toISOString(),
    updated_at: strategy.updatedAt.toISOString(),
  };
}

/** The markets that the code of a version decides on; an endpoint says so by its mode. */
function decidesOn({ mode, decidesOn: noted }: StrategyVersion["runtimeConfig"]): Entry["decides_on"] {
  return mode === "portfolio" || noted === "markets" ? "markets" : "market";
}

/** The language of a version: its own, or that of its strategy's registration where it names none. */
export function languageOf(
  strategy: Pick<StrategyRow["strategy"], "language">,
  { runtimeConfig: { language } }: Pick<StrategyVersion, "runtimeConfig">,
): string {
  return typeof language === "string" ? language : strategy.language;
}

/** A registered version; only the owner is told where its code is. @throws {UnreadableRecord} */
export const registryVersion = recordReader(
  ({ strategyId, version }) => `version ${version} of the strategy ${strategyId}`,
  versionSchema,
  showVersion,
);

function showVersion(row: StrategyVersion, isOwner: boolean): Version {
  return {
    version: row.version,
    runtime_config: isOwner ? { ...row.runtimeConfig } : withoutAddress(row.runtimeConfig),
    sha256: row.sha256,
    size_bytes: row.sizeBytes,
    created_at: row.createdAt.toISOString(),
  };
}
