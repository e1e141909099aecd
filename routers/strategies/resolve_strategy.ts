import { z } from "zod";
import { findStrategiesByName, findStrategy, getVersion, schemaOf, type StrategyRow } from "../../db/strategies.ts";
import type { Db } from "../../db/client.ts";
import { holdModule, type Module, readOwnModule, storeModule } from "../../db/modules.ts";
import { CODE_FORMATS, RUNTIME_TYPES, type SandboxRuntime } from "../../db/schema.ts";
import { ENGINE_VERSION } from "../../engine/version.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import {
  BUILTIN_DESCRIPTIONS,
  type BuiltinDescription,
  findDescription,
} from "../../strategies/builtin/catalogue/descriptions.ts";
import type { PortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_builtin.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import type { Builtin } from "../../strategies/builtin/builtin.ts";
import { AppError, quote, validationFailed } from "../common/errors.ts";
import { checkModule } from "./module_check.ts";
import {
  NAME_PATH,
  RUNTIME_PATH as PATH,
  unknownName,
  unknownSlug,
  unknownStrategy,
  unknownVersion,
} from "./unknown_strategy.ts";
import { knownDefaults, type ParameterRules, type Parameters, undeclared, withoutReserved } from "./parameters.ts";
import {
  checkFormat,
  type ModuleSource,
  moduleSource,
  parseStored,
  requireAllowed,
  runtimeConfigSchema,
  sandboxRuntime,
  toStored,
} from "./runtime_config.ts";
import { requireRoomForModule } from "../common/quotas.ts";
import type { Quotas } from "../../db/schema.ts";
import type { UserContext } from "../common/trpc.ts";

/** The strategy of a backtest, ready to run. */
export interface ResolvedStrategy extends ParameterRules {
  readonly slug: string | null;
  readonly version: string | null;
  readonly default_frequency: string;
  /** Null for a built-in strategy: see `builtin`. */
  readonly runtime: SandboxRuntime | null;
  readonly builtin: Builtin | null;
  /** Of a built-in strategy that decides on many markets at once; else null. */
  readonly portfolioBuiltin: PortfolioBuiltin | null;
  /** True if it decides on many markets at once: it cannot run over one. */
  readonly decidesOnMarkets: boolean;
  /** A module that came with the request, for admitModule() to store; null without one, or if a registered version has it. */
  readonly module: Module | null;
  /** `parameters.runtime` as the record keeps it, without a module's content; undefined if the request has none. */
  readonly shown: Parameters | undefined;
}

// Clients may paste a catalogue entry's runtime: beside slug and version, all keys are ignored.
const namedSchema = z.looseObject({
  slug: z.string().max(64),
  version: z.string().max(64).nullish().transform((version) => version ?? undefined),
});
// A runtime with a slug names a strategy of the catalogue, even if its other fields are wrong.
const sluggedSchema = z.looseObject({ slug: z.unknown().refine((slug) => slug !== undefined) });
const inlineSchema = z.looseObject({ type: z.enum(RUNTIME_TYPES) });
// As records show a module or a script that came with them. Beside its hash, the place that it came from is ignored.
const recordedSchema = z.looseObject({
  type: z.enum(CODE_FORMATS),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

/**
 * Finds the strategy of a submitted backtest.
 *
 * @param label The display name; it names the strategy if the parameters have no runtime.
 * @param parameters As submitted, with an optional `runtime`.
 * @throws AppError UNKNOWN_STRATEGY, AMBIGUOUS_STRATEGY, VALIDATION_FAILED for an invalid runtime, ENDPOINT_NOT_ALLOWED, and the errors
 * of checkModule().
 */
export async function resolveStrategy(
  ctx: UserContext,
  label: string,
  parameters: Parameters,
): Promise<ResolvedStrategy> {
  const { runtime } = parameters;
  // Null means absent, as for the other reserved keys.
  if (runtime === undefined || runtime === null) return await resolveName(ctx, label);
  const named = namedSchema.safeParse(runtime);
  if (named.success) return { ...await resolveSlug(ctx, named.data.slug, named.data.version), shown: named.data };
  if (sluggedSchema.safeParse(runtime).success) throw validationFailed(named.error, PATH);
  if (inlineSchema.safeParse(runtime).success) return await resolveInline(ctx, label, runtime, parameters);
  const message =
    `must name a strategy, as {"slug": "sma-cross"} does, or be of type "remote", "wasm" or "script", not ${
      quote(runtime)
    }`;
  throw new AppError("VALIDATION_FAILED", `Cannot run the strategy: ${PATH} ${message}`, {
    issues: [{ path: PATH, message }],
  });
}

/** Built-in strategies come first, then the caller's own, then public ones. A slug counts where nothing has the name. */
async function resolveName(ctx: UserContext, name: string): Promise<ResolvedStrategy> {
  const builtin = BUILTIN_DESCRIPTIONS.find((one) => one.name === name);
  if (builtin !== undefined) return resolveBuiltin(builtin);
  const found = await findStrategiesByName(ctx.db, { name, userId: ctx.user.id });
  const own = found.filter((row) => row.strategy.ownerId === ctx.user.id);
  const fitting = own.length > 0 ? own : found;
  const only = fitting[0];
  if (only === undefined) {
    const slugged = await findSlug(ctx, name, undefined);
    if (slugged === null) throw await unknownName(ctx, name);
    return slugged;
  }
  if (fitting.length === 1) return resolveRow(ctx, only, only.latest);
  const slugs = fitting.map((row) => row.strategy.slug).sort();
  const message = `is the name of ${slugs.join(" and ")}: choose one with parameters.runtime.slug`;
  throw new AppError("AMBIGUOUS_STRATEGY", `Cannot choose the strategy: ${quote(name)} ${message}`, {
    issues: [{ path: NAME_PATH, message }],
  });
}

async function resolveSlug(ctx: UserContext, slug: string, version: string | undefined): Promise<ResolvedStrategy> {
  const found = await findSlug(ctx, slug, version);
  if (found === null) throw await unknownSlug(ctx, slug);
  return found;
}

/** The strategy of a slug; null where there is none. */
async function findSlug(
  ctx: UserContext,
  slug: string,
  version: string | undefined,
): Promise<ResolvedStrategy | null> {
  const builtin = findDescription(slug);
  if (builtin !== undefined) {
    if (version === undefined || version === ENGINE_VERSION) return resolveBuiltin(builtin);
    throw unknownStrategy(
      `${PATH}/version`,
      `must be ${ENGINE_VERSION}, the only one of ${slug}, not ${quote(version)}`,
    );
  }
  const row = await findStrategy(ctx.db, { slug, userId: ctx.user.id });
  if (row === null) return null;
  if (version === undefined || version === row.latest.version) return resolveRow(ctx, row, row.latest);
  const older = await getVersion(ctx.db, { strategyId: row.strategy.id, version });
  if (older === null) throw await unknownVersion(ctx.db, row.strategy, version);
  return resolveRow(ctx, row, older);
}

function resolveBuiltin(builtin: BuiltinDescription): ResolvedStrategy {
  return {
    ...builtin,
    default_config: {},
    parameter_schema: { ...builtin.parameter_schema },
    version: ENGINE_VERSION,
    runtime: null,
    builtin: findBuiltin(builtin.slug) ?? null,
    portfolioBuiltin: findPortfolioBuiltin(builtin.slug) ?? null,
    decidesOnMarkets: findPortfolioBuiltin(builtin.slug) !== undefined,
    module: null,
    shown: undefined,
  };
}

function resolveRow(
  { user }: UserContext,
  { strategy }: StrategyRow,
  version: StrategyRow["latest"],
): ResolvedStrategy {
  const runtime = sandboxRuntime(version.runtimeConfig, version.sha256, strategy);
  const isForeign = runtime.type === "remote" && strategy.ownerId !== user.id;
  return {
    name: strategy.name,
    slug: strategy.slug,
    version: version.version,
    default_frequency: strategy.defaultFrequency,
    ...ownRules(strategy, version),
    runtime: isForeign ? { ...runtime, isForeign } : runtime,
    builtin: null,
    portfolioBuiltin: null,
    decidesOnMarkets: decidesOnMarkets(runtime),
    module: null,
    shown: undefined,
  };
}

/** A version's rules. The default_config is that of the newest version: an older one may not know all of it. */
function ownRules(
  strategy: StrategyRow["strategy"],
  version: StrategyRow["latest"],
): Pick<ParameterRules, "default_config" | "parameter_schema"> {
  const schema = schemaOf(strategy, version);
  const rules = { default_config: strategy.defaultConfig, parameter_schema: schema };
  return version.parameterSchema === null ? rules : { ...rules, default_config: knownDefaults(rules) };
}

function decidesOnMarkets(runtime: SandboxRuntime): boolean {
  return runtime.type === "remote" ? runtime.mode === "portfolio" : runtime.decidesOn === "markets";
}

/**
 * Keeps the module of a resolved strategy for as long as the record that the caller's transaction writes.
 *
 * @param tx Holds the user's lock.
 * @throws AppError QUOTA_EXCEEDED for a module that came with the request and finds no room, UNKNOWN_STRATEGY when the strategy was deleted
 *   meanwhile, with its module.
 */
export async function admitModule(
  tx: Db,
  ownerId: string,
  quotas: Quotas,
  { name, runtime, module }: Pick<ResolvedStrategy, "name" | "runtime" | "module">,
): Promise<void> {
  if (module !== null) await requireRoomForModule(tx, ownerId, quotas, module);
  if (runtime === null || runtime.type === "remote") return;
  if (module !== null) return await storeModule(tx, module);
  if (await holdModule(tx, runtime.sha256)) return;
  throw unknownStrategy(NAME_PATH, `must be a strategy that is not deleted meanwhile, not ${quote(name)}`);
}

/** A strategy that came with the backtest; its module passes the same check as at registration. */
async function resolveInline(
  ctx: UserContext,
  label: string,
  runtime: unknown,
  parameters: Parameters,
): Promise<ResolvedStrategy> {
  const recorded = recordedSchema.safeParse(runtime);
  const { sha256 = null, ...rest } = recorded.data ?? {};
  const parsed = sha256 === null ? runtimeConfigSchema.safeParse(runtime) : parseStored(rest);
  if (!parsed.success) throw validationFailed(parsed.error, PATH);
  const config = parsed.data;
  requireAllowed(config, ctx.remoteAllow, PATH);
  const candles = { minCandles: 1, lookbackCandles: config.lookbackCandles ?? 0 };
  const module = config.type !== "remote"
    ? await checkModule(
      ctx,
      sha256 === null ? moduleSource(config, PATH) : await findOwnModule(ctx, sha256, checkFormat(config)),
      config.type === "script" ? undeclared(withoutReserved(parameters)) : withoutReserved(parameters),
      candles.lookbackCandles,
    )
    : null;
  const shown = toStored(config, undefined, module);
  const inline = sandboxRuntime(shown, module?.sha256 ?? null, { ...candles, ownerId: ctx.user.id });
  return {
    name: label,
    slug: null,
    version: null,
    default_frequency: "DAILY",
    default_config: {},
    parameter_schema: { type: "object" },
    runtime: inline,
    builtin: null,
    portfolioBuiltin: null,
    decidesOnMarkets: decidesOnMarkets(inline),
    module,
    shown: { ...shown, ...(module === null ? {} : { sha256: module.sha256 }) },
  };
}

/** The module, or the script's text, of an earlier backtest of the caller's. @throws AppError VALIDATION_FAILED */
async function findOwnModule(
  { db, user }: UserContext,
  sha256: string,
  format: ModuleSource["format"],
): Promise<ModuleSource> {
  const path = `${PATH}/sha256`;
  const data = await readOwnModule(db, { ownerId: user.id, sha256 });
  if (data !== null) return { data, moduleUrl: null, path, format };
  const message = `must be the hash of a module that came with a backtest of yours, not ${quote(sha256)}`;
  throw new AppError("VALIDATION_FAILED", `Cannot find the module: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
