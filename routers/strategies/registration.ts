import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { storeModule } from "../../db/modules.ts";
import { lockUser } from "../../db/quotas.ts";
import { RUNTIME_TYPES, SOURCE_ACCESS } from "../../db/schema.ts";
import {
  insertStrategy,
  insertVersion,
  listVersions,
  lockStrategy,
  type StrategyRow,
  type StrategyVersion,
} from "../../db/strategies.ts";
import { findDescription } from "../../strategies/builtin/catalogue/descriptions.ts";
import { inputObject } from "../common/input_object.ts";
import { AppError, mustBe, quote } from "../common/errors.ts";
import { NO_LINE, NO_TEXT, plainText } from "../common/plain_text.ts";
import { type CheckedModule, checkModule } from "./module_check.ts";
import {
  checkParameterSchema,
  effectiveParameters,
  NO_PARAMETERS,
  type ParameterRules,
  type Parameters,
  requireShortDescription,
} from "./parameters.ts";
import { requireRoomForVersion, requireRoomInCatalogue } from "../common/quotas.ts";
import {
  artifactSchema,
  languageSchema,
  lookbackSchema,
  moduleSource,
  requireAllowed,
  runtimeConfigSchema,
  toStored,
  withLanguage,
} from "./runtime_config.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "../market_data/timeframe.ts";
import type { Context, User } from "../common/trpc.ts";

type UserContext = Context & { readonly user: User };

const freeForm = z.record(z.string(), z.unknown());
const frequencySchema = z.string().refine(
  (text) => parseTimeframe(text) !== undefined,
  mustBe(`one of ${TIMEFRAME_WORDS.join(", ")}`),
);

const FIRST_VERSION = "1.0.0";
const PART_MAX = 999_999_999;

export const versionRequestSchema = inputObject({
  version: z.string().regex(/^\d{1,9}(\.\d{1,9}){0,3}$/, mustBe("a dotted number such as 1.0.2")).optional()
    .describe(`Absent: ${FIRST_VERSION} for the first version, else the highest with its last part one higher.`),
  runtime_config: runtimeConfigSchema,
  /** Here or inside runtime_config. */
  artifact: artifactSchema.optional(),
});

type VersionRequest = z.infer<typeof versionRequestSchema>;

/** The fields that can be changed later. */
export const textShape = {
  name: plainText(NO_LINE, 100).pipe(z.string().min(1)),
  description: plainText(NO_TEXT, 4000),
  is_public: z.boolean(),
  source_access: z.enum(SOURCE_ACCESS),
  // The one reserved key with a meaning here: the timeframe of backtests that name none.
  default_config: z.looseObject({ timeframe: frequencySchema.nullish() }),
};

export const strategySchema = inputObject({
  slug: z.string().min(3).max(64).regex(
    /^[a-z0-9]+([-_][a-z0-9]+)*$/,
    mustBe("lower-case letters and digits, in parts joined by single hyphens or underscores"),
  ),
  name: textShape.name,
  description: textShape.description.default(""),
  runtime_type: z.enum(RUNTIME_TYPES),
  language: languageSchema,
  default_frequency: frequencySchema.default("DAILY"),
  min_candles: z.int().min(1).max(1_000_000).default(1),
  lookback_candles: lookbackSchema.default(0),
  default_config: textShape.default_config.default({}),
  parameter_schema: freeForm.default({ ...NO_PARAMETERS }),
  is_public: textShape.is_public.default(false),
  source_access: textShape.source_access.default("hidden"),
  initial_version: versionRequestSchema,
});

type StrategyRequest = z.infer<typeof strategySchema>;

/**
 * Registers a strategy with its first version.
 *
 * @throws AppError SLUG_TAKEN, VALIDATION_FAILED, and the errors of checkModule(); nothing is stored then.
 */
export async function registerStrategy(ctx: UserContext, request: StrategyRequest): Promise<StrategyRow> {
  requireShortDescription(request);
  requireOwnCode(request.runtime_type, request.source_access);
  checkParameterSchema(request.parameter_schema, "/strategy/parameter_schema");
  const rules = { ...request, default_config: {} };
  const path = "/strategy/default_config";
  const dryRun = effectiveParameters(rules, request.default_config, path, "/strategy/parameter_schema");
  if (findDescription(request.slug) !== undefined) throw slugTaken(request.slug);
  const place = { path: "/strategy/initial_version", runtimeType: request.runtime_type, language: request.language };
  const lookback = request.lookback_candles;
  const checked = await checkVersion(ctx, request.initial_version, place, dryRun, lookback);
  const isDeclared = isDeepStrictEqual(request.parameter_schema, NO_PARAMETERS);
  const declared = isDeclared ? declaredSchema(request, checked.module) : null;
  return await ctx.db.transaction(async (tx: Db) => {
    await lockUser(tx, ctx.user.id);
    await requireRoomForVersion(tx, ctx.user.id, ctx.quotas, checked.module);
    if (checked.module !== null) await storeModule(tx, checked.module);
    const row = await insertStrategy(tx, {
      ownerId: ctx.user.id,
      slug: request.slug,
      name: request.name,
      description: request.description,
      runtimeType: request.runtime_type,
      language: request.language,
      defaultFrequency: request.default_frequency,
      minCandles: request.min_candles,
      lookbackCandles: lookback,
      defaultConfig: request.default_config,
      parameterSchema: declared ?? request.parameter_schema,
      isPublic: request.is_public,
      sourceAccess: request.source_access,
    }, {
      version: request.initial_version.version ?? FIRST_VERSION,
      parameterSchema: declared,
      ...checked.values,
    });
    if (row === null) throw slugTaken(request.slug);
    if (request.is_public) await requireRoomInCatalogue(tx, ctx.user.id);
    return row;
  });
}

/**
 * The schema that a version's own code declares, or that has the parameters which it reads; null where nobody knows them all.
 *
 * @throws AppError VALIDATION_FAILED, INVALID_PARAMETERS when default_config does not fit it.
 */
function declaredSchema(
  { name, default_config }: Pick<ParameterRules, "name" | "default_config">,
  code: CheckedModule | null,
): Parameters | null {
  const declared = code?.parameterSchema ?? null;
  if (declared === null) return null;
  const path = "/strategy/parameter_schema";
  checkParameterSchema(declared, path);
  requireShortDescription({ default_config, parameter_schema: declared });
  const rules = { name, default_config: {}, parameter_schema: declared };
  effectiveParameters(rules, default_config, "/strategy/default_config", path);
  return declared;
}

/**
 * Adds a version, which must be higher than all others; one without a number gets the next one.
 *
 * @throws AppError VERSION_EXISTS, STRATEGY_NOT_FOUND, VALIDATION_FAILED, and the errors of checkModule(); nothing is stored then.
 */
export async function addVersion(
  ctx: UserContext,
  { strategy, latest }: StrategyRow,
  request: VersionRequest,
): Promise<StrategyVersion> {
  if (request.version !== undefined) requireHigher(request.version, latest.version);
  const place = { path: "/version", runtimeType: strategy.runtimeType, language: strategy.language };
  const isDeclared = declaresOwn(strategy, latest);
  const rules: ParameterRules = {
    name: strategy.name,
    default_config: strategy.defaultConfig,
    parameter_schema: isDeclared ? NO_PARAMETERS : strategy.parameterSchema,
  };
  const dryRun = effectiveParameters(rules, {}, "/strategy/default_config");
  const checked = await checkVersion(ctx, request, place, dryRun, strategy.lookbackCandles);
  const parameterSchema = isDeclared ? declaredSchema(rules, checked.module) ?? NO_PARAMETERS : null;
  return await ctx.db.transaction(async (tx: Db) => {
    await lockUser(tx, ctx.user.id);
    await requireRoomForVersion(tx, ctx.user.id, ctx.quotas, checked.module);
    // While the module was checked the strategy may have been deleted, or another version added.
    if (!await lockStrategy(tx, strategy.id)) {
      throw new AppError("STRATEGY_NOT_FOUND", `Cannot find the strategy ${quote(strategy.slug)}`);
    }
    const [highest = latest] = await listVersions(tx, { strategyId: strategy.id, limit: 1 });
    const version = request.version ?? nextVersion(highest.version);
    requireHigher(version, highest.version);
    if (checked.module !== null) await storeModule(tx, checked.module);
    const added = await insertVersion(tx, { strategyId: strategy.id, version, parameterSchema, ...checked.values });
    if (strategy.isPublic && parameterSchema !== null) await requireRoomInCatalogue(tx, ctx.user.id);
    return added;
  });
}

/** True for a strategy that was registered without a parameter_schema: each version then has its own. */
function declaresOwn({ parameterSchema }: StrategyRow["strategy"], latest: StrategyVersion): boolean {
  return latest.parameterSchema !== null || isDeepStrictEqual(parameterSchema, NO_PARAMETERS);
}

async function checkVersion(
  ctx: UserContext,
  request: VersionRequest,
  place: { readonly path: string; readonly runtimeType: string; readonly language: string },
  dryRun: Readonly<Record<string, unknown>>,
  lookbackCandles: number,
) {
  const config = withLanguage(request.runtime_config, place.language);
  const path = `${place.path}/runtime_config`;
  if (config.type !== place.runtimeType) {
    throw refuse(`${path}/type`, `must be the strategy's runtime_type ${place.runtimeType}, not ${config.type}`);
  }
  requireAllowed(config, ctx.remoteAllow, path);
  const valuesOf = (code: CheckedModule | null) => ({ runtimeConfig: toStored(config, request.artifact, code) });
  if (config.type === "remote") {
    if (request.artifact !== undefined) throw refuse(`${place.path}/artifact`, "is for strategies of type wasm");
    return { module: null, values: valuesOf(null) };
  }
  if (config.type === "script" && request.artifact !== undefined) {
    throw refuse(`${place.path}/artifact`, "is for strategies of type wasm: a script has its text in source");
  }
  const source = moduleSource(config, path, { artifact: request.artifact, path: `${place.path}/artifact` });
  const module = await checkModule(ctx, source, dryRun, config.lookbackCandles ?? lookbackCandles);
  return { module, values: { ...valuesOf(module), sha256: module.sha256, sizeBytes: module.data.byteLength } };
}

/** 1.0.9 is followed by 1.0.10. A last part that cannot grow makes the part before it grow. */
function nextVersion(version: string): string {
  const parts = version.split(".").map(Number);
  const last = parts.findLastIndex((part) => part < PART_MAX);
  return parts.map((part, i) => i < last ? part : i === last ? part + 1 : 0).join(".");
}

function requireHigher(version: string, latest: string): void {
  const order = compareVersions(version, latest);
  if (order > 0) return;
  if (order === 0) {
    throw new AppError("VERSION_EXISTS", `Cannot add version ${version}: version ${latest} exists already`);
  }
  throw refuse("/version/version", `must be higher than the latest, ${latest}, not ${quote(version)}`);
}

/** Compares dotted numbers part by part; missing parts count as 0, so that 1.0 and 1.0.0 are equal. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a.split(".").map(Number), b.split(".").map(Number)];
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

/** An endpoint's code is not here, and its address is the owner's secret. @throws AppError VALIDATION_FAILED */
export function requireOwnCode(runtimeType: string, access: (typeof SOURCE_ACCESS)[number] | undefined): void {
  if (access !== "open" || runtimeType !== "remote") return;
  const issue = { path: "/strategy/source_access", message: "must be hidden for an endpoint: its code is not here" };
  throw new AppError("VALIDATION_FAILED", `Cannot show the code: ${issue.path} ${issue.message}`, { issues: [issue] });
}

function slugTaken(slug: string): AppError {
  return new AppError(
    "SLUG_TAKEN",
    `Cannot register ${slug}: the slug is taken, or reserved by backtests of another user; choose another slug`,
    {
      issues: [{ path: "/strategy/slug", message: `is taken: ${quote(slug)}` }],
    },
  );
}

function refuse(path: string, message: string): AppError {
  return new AppError("VALIDATION_FAILED", `Cannot register the version: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
