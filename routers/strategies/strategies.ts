import { z } from "zod";
import type { Db } from "../../db/client.ts";
import { readModule } from "../../db/modules.ts";
import { lockUser } from "../../db/quotas.ts";
import {
  countUnfinishedRuns,
  deleteStrategy,
  findStrategy,
  getVersion,
  listVersions,
  schemaOf,
  type StrategyRow,
  type StrategyVersion,
  updateStrategy,
} from "../../db/strategies.ts";
import { findDescription } from "../../strategies/builtin/catalogue/descriptions.ts";
import {
  builtinEntry,
  builtinVersion,
  entrySchema,
  entrySummary,
  entrySummarySchema,
  languageOf,
  registryEntry,
  registryVersion,
  type Version,
  versionSchema,
} from "./strategy_entry.ts";
import { inputObject } from "../common/input_object.ts";
import { AppError, quote } from "../common/errors.ts";
import { afterEntry, catalogueFilters, catalogueList, fullEntry } from "./catalogue_list.ts";
import {
  decodeCursor,
  type List,
  type ListAnswer,
  listShape,
  pageShape,
  readList,
  readListPage,
} from "../common/paging.ts";
import { effectiveParameters, requireShortDescription } from "./parameters.ts";
import { leavingOutUnreadable } from "../common/stored_records.ts";
import { requireRoomInCatalogue } from "../common/quotas.ts";
import {
  addVersion,
  registerStrategy,
  requireOwnCode,
  strategySchema,
  textShape,
  versionRequestSchema,
} from "./registration.ts";
import { type Context, router, type User, userProcedure } from "../common/trpc.ts";
import { strategyNotFound } from "./unknown_strategy.ts";

const slugSchema = z.string().max(64);
const slugInput = inputObject({ slug: slugSchema });
const artifactInput = inputObject({ slug: slugSchema, version: z.string().max(64) });

export const strategiesRouter = router({
  /** A page of the catalogue: built-in strategies, then the caller's own and public ones, newest first. */
  list: userProcedure
    .input(inputObject({ ...pageShape, ...catalogueFilters }))
    .output(z.object({ strategies: z.array(entrySchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filters } }) => {
      const list = catalogueList(ctx.db, ctx.user.id, filters, fullEntry);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterEntry(cursor) }, ctx.answer);
      return { strategies: [...items], next_cursor };
    }),

  /** The same, each without its default_config and parameter_schema. */
  summaries: userProcedure
    .input(inputObject({ ...pageShape, ...catalogueFilters }))
    .output(z.object({ strategies: z.array(entrySummarySchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input: { limit, cursor, ...filters } }) => {
      const list = catalogueList(ctx.db, ctx.user.id, filters, entrySummary);
      const { items, next_cursor } = await readListPage(list, { limit, after: afterEntry(cursor) }, ctx.answer);
      return { strategies: [...items], next_cursor };
    }),

  /** One entry of the catalogue. */
  get: userProcedure
    .input(slugInput)
    .output(z.object({ strategy: entrySchema }))
    .query(async ({ ctx, input }) => {
      const builtin = findDescription(input.slug);
      if (builtin !== undefined) return { strategy: builtinEntry(builtin) };
      return { strategy: registryEntry(await mustFind(ctx, input.slug), ctx.user.id) };
    }),

  /** Registers a strategy with its first version; a WASM module is checked by a worker before. */
  create: userProcedure
    .input(inputObject({ strategy: strategySchema }))
    .output(z.object({ strategy: entrySchema, version: versionSchema }))
    .mutation(async ({ ctx, input }) => {
      const row = await registerStrategy(ctx, input.strategy);
      return { strategy: registryEntry(row, ctx.user.id), version: registryVersion(row.latest, true) };
    }),

  /** Changes one's own strategy; how it runs changes with a new version instead. */
  update: userProcedure
    .input(inputObject({ slug: slugSchema, strategy: inputObject(z.strictObject(textShape).partial().shape) }))
    .output(z.object({ strategy: entrySchema }))
    .mutation(async ({ ctx, input }) => {
      const { name, description, default_config: defaultConfig } = input.strategy;
      const { is_public: isPublic, source_access: sourceAccess } = input.strategy;
      const { strategy, latest } = await mustOwn(ctx, input.slug);
      requireOwnCode(strategy.runtimeType, sourceAccess);
      if (defaultConfig !== undefined) {
        const rules = { name: strategy.name, default_config: {}, parameter_schema: schemaOf(strategy, latest) };
        requireShortDescription({ ...rules, default_config: defaultConfig });
        effectiveParameters(rules, defaultConfig, "/strategy/default_config");
      }
      const changes = { name, description, isPublic, sourceAccess, defaultConfig };
      const present = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      await ctx.db.transaction(async (tx: Db) => {
        await lockUser(tx, ctx.user.id);
        await updateStrategy(tx, { slug: input.slug, ownerId: ctx.user.id }, present);
        if (isPublic ?? strategy.isPublic) await requireRoomInCatalogue(tx, ctx.user.id);
      });
      return { strategy: registryEntry(await mustFind(ctx, input.slug), ctx.user.id) };
    }),

  /** Removes one's own strategy, unless runs of it wait or run. */
  delete: userProcedure.input(slugInput).mutation(async ({ ctx, input: { slug } }) => {
    await mustOwn(ctx, slug);
    await ctx.db.transaction(async (tx: Db) => {
      const unfinished = await countUnfinishedRuns(tx, slug);
      if (unfinished > 0) {
        const runs = unfinished === 1
          ? "one of its backtests or optimizations has"
          : `${unfinished} of its backtests or optimizations have`;
        throw new AppError("STRATEGY_IN_USE", `Cannot delete ${slug}: ${runs} not ended`);
      }
      await deleteStrategy(tx, { slug, ownerId: ctx.user.id });
    });
  }),

  /** The versions of a strategy, highest first. */
  versions: userProcedure
    .input(inputObject({ slug: slugSchema, ...pageShape }))
    .output(z.object({ versions: z.array(versionSchema), next_cursor: z.string().nullable() }))
    .query(async ({ ctx, input }) => {
      const builtin = findDescription(input.slug);
      if (builtin !== undefined) return { versions: [builtinVersion(builtin)], next_cursor: null };
      const { strategy } = await mustFind(ctx, input.slug);
      const after = decodeCursor(input.cursor, z.string().regex(/^\d{1,9}(\.\d{1,9})*$/));
      const isOwner = strategy.ownerId === ctx.user.id;
      const list: List<StrategyVersion, Version> = {
        read: (below, limit) => listVersions(ctx.db, { strategyId: strategy.id, below, limit }),
        key: (row) => row.version,
        show: leavingOutUnreadable((row) => registryVersion(row, isOwner)),
        pieceRows: 100,
      };
      const { items, next_cursor } = await readListPage(list, { limit: input.limit, after }, ctx.answer);
      return { versions: [...items], next_cursor };
    }),

  /** Adds a version to one's own strategy; older ones stay runnable. */
  addVersion: userProcedure
    .input(z.preprocess(wrapVersion, inputObject({ slug: slugSchema, version: versionRequestSchema })))
    .output(z.object({ version: versionSchema }))
    .mutation(async ({ ctx, input }) => {
      const row = await mustOwn(ctx, input.slug);
      return { version: registryVersion(await addVersion(ctx, row, input.version), true) };
    }),

  /** The code of a version, one's own or an open one, as it was registered; its bytes are base64. */
  artifact: userProcedure
    .input(artifactInput)
    .output(z.object({ fileName: z.string(), sha256: z.string(), data: z.string() }))
    .query(async ({ ctx, input }) => {
      const { data, ...artifact } = await readArtifact(ctx, input);
      return { ...artifact, data: data.toBase64() };
    }),
});

/** Procedures with streams or bytes, which only REST can carry. */
export const strategiesStreamsRouter = router({
  /** The catalogue: all of it, or a page where there is a limit. */
  list: userProcedure
    .input(inputObject({ ...listShape, ...catalogueFilters, view: z.enum(["full", "summary"]).default("full") }))
    .query(({ ctx, input: { limit, cursor, view, ...filters } }): ListAnswer => {
      const list = catalogueList(ctx.db, ctx.user.id, filters, view === "full" ? fullEntry : entrySummary);
      return { name: "strategies", pages: readList(list, { limit, after: afterEntry(cursor) }, ctx.answer) };
    }),

  /** The code of a version, one's own or an open one, as it was registered. */
  artifact: userProcedure.input(artifactInput).query(({ ctx, input }) => readArtifact(ctx, input)),
});

type VersionInput = z.input<typeof versionRequestSchema>;

/** A version may also come bare, beside the slug. Pointers in refusals are those of the wrapped form. */
function wrapVersion(
  input: { slug: string; version: VersionInput } | ({ slug: string } & VersionInput),
): unknown {
  if (typeof input !== "object" || input === null || !("runtime_config" in input)) return input;
  const { slug, ...version } = input;
  return { slug, version };
}

/** The code of a version that the caller may read. Its base64 counts among the bytes of the request's answers. */
async function readArtifact(
  ctx: Context & { readonly user: User },
  { slug, version }: z.infer<typeof artifactInput>,
): Promise<{ fileName: string; sha256: string; data: Uint8Array }> {
  const { strategy } = await mustRead(ctx, slug);
  const found = await getVersion(ctx.db, { strategyId: strategy.id, version });
  const sha256 = found?.sha256 ?? null;
  const data = await ctx.answer.inTurn(async () => {
    ctx.answer.requireSome();
    const module = sha256 === null ? null : await readModule(ctx.db, sha256);
    ctx.answer.take((module?.byteLength ?? 0) * 4 / 3);
    return module;
  });
  if (found === null || sha256 === null || data === null) {
    throw new AppError("STRATEGY_NOT_FOUND", `Cannot find a module of ${slug} ${quote(version)}`);
  }
  const isPython = /^python$/i.test(languageOf(strategy, found));
  const extension = strategy.runtimeType !== "script" ? "wasm" : isPython ? "py" : "ts";
  return { fileName: `${slug}-${version}.${extension}`, sha256, data };
}

/** A registered strategy that the caller may see. */
async function mustFind(ctx: Context & { readonly user: User }, slug: string): Promise<StrategyRow> {
  const row = await findStrategy(ctx.db, { slug, userId: ctx.user.id });
  if (row === null) throw await strategyNotFound(ctx, slug);
  return row;
}

/** A registered strategy of the caller's own: what others made public they may see, but not change. */
async function mustOwn(ctx: Context & { readonly user: User }, slug: string): Promise<StrategyRow> {
  if (findDescription(slug) !== undefined) throw new AppError("FORBIDDEN", `Cannot change ${slug}: it is built in`);
  const row = await mustFind(ctx, slug);
  if (row.strategy.ownerId === ctx.user.id) return row;
  throw new AppError("FORBIDDEN", `Cannot change ${slug}: it belongs to another user`);
}

/** A registered strategy whose code the caller may read: their own, or one that its owner has opened. */
async function mustRead(ctx: Context & { readonly user: User }, slug: string): Promise<StrategyRow> {
  if (findDescription(slug) !== undefined) throw new AppError("FORBIDDEN", `Cannot download ${slug}: it is built in`);
  const row = await mustFind(ctx, slug);
  if (row.strategy.ownerId === ctx.user.id || row.strategy.sourceAccess === "open") return row;
  throw new AppError("FORBIDDEN", `Cannot download ${slug}: its owner keeps its code hidden`);
}
