import { Validator } from "@cfworker/json-schema";
import { z } from "zod";
import { ENGINE_VERSION } from "../engine/version.ts";
import { BUILTINS, findBuiltin } from "../strategies/builtin/catalogue.ts";
import type { Builtin } from "../strategies/builtin/strategy.ts";
import { AppError, type Issue, quote } from "./errors.ts";
import { cutPage, decodeCursor, pageShape } from "./paging.ts";
import { router, userProcedure } from "./trpc.ts";

const freeForm = z.record(z.string(), z.unknown());

const entrySchema = z.object({
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  source: z.enum(["builtin", "registry"]),
  runtime_type: z.enum(["builtin", "remote", "wasm"]),
  language: z.string(),
  default_frequency: z.string(),
  min_candles: z.int(),
  lookback_candles: z.int(),
  default_config: freeForm,
  parameter_schema: freeForm,
  is_public: z.boolean(),
  is_owner: z.boolean(),
  latest_version: z.string(),
  runtime: z.object({
    type: z.enum(["builtin", "remote", "wasm"]),
    slug: z.string(),
    version: z.string(),
    language: z.string(),
    lookbackCandles: z.int(),
  }),
  created_at: z.iso.datetime().nullable(),
  updated_at: z.iso.datetime().nullable(),
});

const versionSchema = z.object({
  version: z.string(),
  runtime_config: freeForm,
  sha256: z.string().nullable(),
  size_bytes: z.int().nullable(),
  created_at: z.iso.datetime().nullable(),
});

const slugSchema = z.string().max(64);

export const strategiesRouter = router({
  /** The catalogue: what can be named in a backtest. */
  list: userProcedure
    .input(z.strictObject({
      ...pageShape,
      search: z.string().max(100).optional(),
      runtime_type: z.enum(["builtin", "remote", "wasm"]).optional(),
      source: z.enum(["builtin", "registry"]).optional(),
    }))
    .output(z.object({ strategies: z.array(entrySchema), next_cursor: z.string().nullable() }))
    .query(({ input }) => {
      const after = decodeCursor(input.cursor, slugSchema);
      const entries = BUILTINS.map(toEntry)
        .filter((entry) => input.runtime_type === undefined || entry.runtime_type === input.runtime_type)
        .filter((entry) => input.source === undefined || entry.source === input.source)
        .filter((entry) => input.search === undefined || mentions(entry, input.search));
      const begin = after === undefined ? 0 : entries.findIndex((entry) => entry.slug === after) + 1;
      const { page, next_cursor } = cutPage(entries.slice(begin), input.limit, (entry) => entry.slug);
      return { strategies: [...page], next_cursor };
    }),

  /** One entry of the catalogue. */
  get: userProcedure
    .input(z.strictObject({ slug: slugSchema }))
    .output(z.object({ strategy: entrySchema }))
    .query(({ input }) => ({ strategy: toEntry(mustFind(input.slug)) })),

  /** The versions of a strategy, newest first. */
  versions: userProcedure
    .input(z.strictObject({ slug: slugSchema, ...pageShape }))
    .output(z.object({ versions: z.array(versionSchema), next_cursor: z.string().nullable() }))
    .query(({ input }) => {
      const { runtime } = toEntry(mustFind(input.slug));
      const { version, slug: _slug, ...config } = runtime;
      return {
        versions: [{ version, runtime_config: config, sha256: null, size_bytes: null, created_at: null }],
        next_cursor: null,
      };
    }),
});

function toEntry(builtin: Builtin): z.infer<typeof entrySchema> {
  const { create: _create, ...shown } = builtin;
  return {
    ...shown,
    default_config: { ...builtin.default_config },
    parameter_schema: { ...builtin.parameter_schema },
    source: "builtin",
    runtime_type: "builtin",
    language: "typescript",
    is_public: true,
    is_owner: false,
    latest_version: ENGINE_VERSION,
    runtime: {
      type: "builtin",
      slug: builtin.slug,
      version: ENGINE_VERSION,
      language: "typescript",
      lookbackCandles: builtin.lookback_candles,
    },
    created_at: null,
    updated_at: null,
  };
}

function mentions(entry: z.infer<typeof entrySchema>, search: string): boolean {
  const needle = search.toLowerCase();
  return [entry.slug, entry.name, entry.description].some((text) => text.toLowerCase().includes(needle));
}

function mustFind(slug: string): Builtin {
  const found = findBuiltin(slug);
  if (found === undefined) throw new AppError("STRATEGY_NOT_FOUND", `Cannot find the strategy ${quote(slug)}`);
  return found;
}

const runtimeSchema = z.strictObject({
  type: z.literal("builtin").optional(),
  slug: slugSchema,
  version: z.string().max(64).optional(),
  language: z.string().optional(),
  lookbackCandles: z.int().optional(),
});

/** A strategy that a backtest names, at one version. */
export interface ResolvedStrategy {
  readonly entry: Builtin;
  readonly version: string;
}

/**
 * Finds the strategy that a backtest is to run.
 *
 * @param name The display name; it decides when no runtime is given.
 * @param runtime `parameters.runtime` as submitted, or undefined.
 * @throws AppError UNKNOWN_STRATEGY, or VALIDATION_FAILED for a runtime that is none.
 */
export function resolveStrategy(name: string, runtime: unknown): ResolvedStrategy {
  if (runtime === undefined) {
    const entry = BUILTINS.find((builtin) => builtin.name === name);
    if (entry !== undefined) return { entry, version: ENGINE_VERSION };
    const message = `must be the name of a strategy in the catalogue, not ${quote(name)}`;
    throw unknownStrategy("/backtest/strategy", message);
  }
  const path = "/backtest/parameters/runtime";
  const parsed = runtimeSchema.safeParse(runtime);
  if (!parsed.success) {
    const message = `must name a strategy of the catalogue, as {"slug": "sma-cross"} does, not ${quote(runtime)}`;
    throw new AppError("VALIDATION_FAILED", `Cannot run the strategy: ${path} ${message}`, {
      issues: [{ path, message }],
    });
  }
  const { slug, version } = parsed.data;
  const entry = findBuiltin(slug);
  if (entry === undefined) throw unknownStrategy(`${path}/slug`, `must be a slug in the catalogue, not ${quote(slug)}`);
  if (version !== undefined && version !== ENGINE_VERSION) {
    throw unknownStrategy(
      `${path}/version`,
      `must be ${ENGINE_VERSION}, the only one of ${slug}, not ${quote(version)}`,
    );
  }
  return { entry, version: ENGINE_VERSION };
}

function unknownStrategy(path: string, message: string): AppError {
  return new AppError("UNKNOWN_STRATEGY", `Cannot find the strategy: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/**
 * Holds a strategy's own parameters against its schema and fills in what was not given.
 *
 * @param own The submitted parameters without the reserved keys.
 * @returns Schema defaults, overridden by default_config, overridden by what was submitted.
 * @throws AppError INVALID_PARAMETERS with a pointer to each wrong one.
 */
export function effectiveParameters(entry: Builtin, own: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const schema = entry.parameter_schema;
  const defaults = Object.entries(schema.properties).flatMap(([key, property]) =>
    "default" in property ? [[key, property.default] as const] : []
  );
  const { timeframe: _timeframe, ...config } = entry.default_config;
  const effective = { ...Object.fromEntries(defaults), ...config, ...own };
  const result = new Validator({ ...schema }, "2020-12", false).validate(effective);
  if (result.valid) return effective;
  const issues = result.errors
    .filter((error) => error.keyword !== "properties" && error.keyword !== "false")
    .map((error): Issue => ({
      path: `/backtest/parameters${error.instanceLocation.slice(1)}`,
      message: error.error,
    }));
  const first = issues[0];
  throw new AppError("INVALID_PARAMETERS", `Cannot run ${entry.name}: ${first?.path} ${first?.message}`, { issues });
}
