import { and, count, desc, eq, ilike, inArray, isNotNull, lt, notExists, or, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { backtests, optimizations, slugs, strategies, strategyVersions } from "./schema.ts";

type Strategy = typeof strategies.$inferSelect;
type NewStrategy = Omit<typeof strategies.$inferInsert, "id" | "createdAt" | "updatedAt">;
export type StrategyVersion = typeof strategyVersions.$inferSelect;

/** A registered strategy with its highest version. */
export interface StrategyRow {
  readonly strategy: Strategy;
  readonly latest: StrategyVersion;
}

// Versions are dotted numbers: as arrays of numbers, 1.10 is above 1.9.
export const byVersion = sql`string_to_array(${strategyVersions.version}, '.')::bigint[]`;

/** A user sees their own strategies and public ones. */
const visibleTo = (userId: string) => or(eq(strategies.ownerId, userId), eq(strategies.isPublic, true));

/** The parameter_schema of a version: what its own code declares or reads, or the schema of its strategy's registration. */
export function schemaOf(
  { parameterSchema }: Pick<Strategy, "parameterSchema">,
  version: Pick<StrategyVersion, "parameterSchema">,
): Strategy["parameterSchema"] {
  return version.parameterSchema ?? parameterSchema;
}

function selectWithLatest(db: Db) {
  const latest = db.select().from(strategyVersions)
    .where(eq(strategyVersions.strategyId, strategies.id)).orderBy(desc(byVersion)).limit(1).as("latest");
  return db.select({
    strategy: strategies,
    latest: {
      strategyId: latest.strategyId,
      version: latest.version,
      runtimeConfig: latest.runtimeConfig,
      sha256: latest.sha256,
      sizeBytes: latest.sizeBytes,
      parameterSchema: latest.parameterSchema,
      createdAt: latest.createdAt,
    },
  }).from(strategies).innerJoinLateral(latest, sql`true`);
}

/** Stores a strategy with its first version. @returns null when the slug is taken, or reserved for its earlier owner. */
export async function insertStrategy(
  tx: Db,
  values: NewStrategy,
  version: Omit<typeof strategyVersions.$inferInsert, "strategyId" | "createdAt">,
): Promise<StrategyRow | null> {
  const { slug, ownerId } = values;
  const [own] = await tx.insert(slugs).values({ slug, ownerId })
    .onConflictDoUpdate({ target: slugs.slug, set: { ownerId }, setWhere: eq(slugs.ownerId, ownerId) }).returning();
  if (own === undefined) return null;
  const [strategy] = await tx.insert(strategies).values({ ...values, id: uuidv7() })
    .onConflictDoNothing({ target: strategies.slug }).returning();
  if (strategy === undefined) return null;
  const [latest] = await tx.insert(strategyVersions).values({ ...version, strategyId: strategy.id }).returning();
  if (latest === undefined) throw new Error("Cannot read the version that was just inserted");
  return { strategy, latest };
}

/** One strategy by its slug, if the user may see it. */
export async function findStrategy(db: Db, key: { slug: string; userId: string }): Promise<StrategyRow | null> {
  const [row] = await selectWithLatest(db).where(and(eq(strategies.slug, key.slug), visibleTo(key.userId)));
  return row ?? null;
}

/** The visible strategies of a display name, at most 200; the user's own come first. */
export async function findStrategiesByName(db: Db, key: { name: string; userId: string }): Promise<StrategyRow[]> {
  return await selectWithLatest(db).where(and(eq(strategies.name, key.name), visibleTo(key.userId)))
    .orderBy(desc(eq(strategies.ownerId, key.userId)), strategies.id).limit(200);
}

/** Names and slugs of strategies that the user may see, to suggest instead of a wrong one: the newest `limit`. */
export async function listStrategyNames(
  db: Db,
  { userId, limit }: { readonly userId: string; readonly limit: number },
): Promise<{ name: string; slug: string }[]> {
  return await db.select({ name: strategies.name, slug: strategies.slug }).from(strategies)
    .where(visibleTo(userId)).orderBy(desc(strategies.id)).limit(limit);
}

/** The strategies that the user may see, newest first. */
export async function listStrategies(db: Db, page: {
  readonly userId: string;
  readonly search?: string | undefined;
  readonly runtimeType?: Strategy["runtimeType"] | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}): Promise<StrategyRow[]> {
  const pattern = page.search === undefined ? undefined : `%${page.search.replace(/[\\%_]/g, "\\$&")}%`;
  const columns = [strategies.slug, strategies.name, strategies.description];
  return await selectWithLatest(db).where(and(
    visibleTo(page.userId),
    pattern === undefined ? undefined : or(...columns.map((column) => ilike(column, pattern))),
    page.runtimeType === undefined ? undefined : eq(strategies.runtimeType, page.runtimeType),
    page.before === undefined ? undefined : lt(strategies.id, page.before),
  )).orderBy(desc(strategies.id)).limit(page.limit);
}

/** Updates a user's own strategy. @returns True if it exists. */
export async function updateStrategy(
  db: Db,
  key: { slug: string; ownerId: string },
  changes: Partial<Pick<NewStrategy, "name" | "description" | "isPublic" | "sourceAccess" | "defaultConfig">>,
): Promise<boolean> {
  const rows = await db.update(strategies).set({ ...changes, updatedAt: new Date() })
    .where(and(eq(strategies.slug, key.slug), eq(strategies.ownerId, key.ownerId))).returning({ id: strategies.id });
  return rows.length > 0;
}

/** How many backtests and optimizations with this strategy have not ended. */
export async function countUnfinishedRuns(db: Db, slug: string): Promise<number> {
  const counts = await Promise.all([backtests, optimizations].map(async (records) => {
    const [row] = await db.select({ count: count() }).from(records)
      .where(and(eq(records.strategySlug, slug), inArray(records.status, ["queued", "running"])));
    return row?.count ?? 0;
  }));
  return counts.reduce((sum, each) => sum + each, 0);
}

/**
 * Removes a user's own strategy with its versions. Others can use its slug unless a backtest or an optimization references it.
 *
 * @returns True if it existed.
 */
export async function deleteStrategy(tx: Db, { slug, ownerId }: { slug: string; ownerId: string }): Promise<boolean> {
  const runs = [backtests, optimizations].map((records) =>
    notExists(
      tx.select({ one: sql`1` }).from(records).where(and(eq(records.strategySlug, slug), isNotNull(records.runtime))),
    )
  );
  // The slug first, as at registration: the other order could deadlock.
  await tx.delete(slugs).where(and(eq(slugs.slug, slug), eq(slugs.ownerId, ownerId), ...runs));
  const rows = await tx.delete(strategies)
    .where(and(eq(strategies.slug, slug), eq(strategies.ownerId, ownerId))).returning({ id: strategies.id });
  return rows.length > 0;
}

/** Keeps others from adding versions until the transaction ends. @returns True if the strategy still exists. */
export async function lockStrategy(tx: Db, strategyId: string): Promise<boolean> {
  const rows = await tx.select({ id: strategies.id }).from(strategies).where(eq(strategies.id, strategyId))
    .for("update");
  return rows.length > 0;
}

export async function insertVersion(
  tx: Db,
  values: Omit<typeof strategyVersions.$inferInsert, "createdAt">,
): Promise<StrategyVersion> {
  const [row] = await tx.insert(strategyVersions).values(values).returning();
  if (row === undefined) throw new Error("Cannot read the version that was just inserted");
  await tx.update(strategies).set({ updatedAt: new Date() }).where(eq(strategies.id, values.strategyId));
  return row;
}

/** Versions of a strategy, highest first. */
export async function listVersions(db: Db, page: {
  readonly strategyId: string;
  readonly below?: string | undefined;
  readonly limit: number;
}): Promise<StrategyVersion[]> {
  const below = page.below === undefined
    ? undefined
    : sql`${byVersion} < string_to_array(${page.below}, '.')::bigint[]`;
  return await db.select().from(strategyVersions).where(and(eq(strategyVersions.strategyId, page.strategyId), below))
    .orderBy(desc(byVersion)).limit(page.limit);
}

export async function getVersion(
  db: Db,
  key: { strategyId: string; version: string },
): Promise<StrategyVersion | null> {
  const [row] = await db.select().from(strategyVersions)
    .where(and(eq(strategyVersions.strategyId, key.strategyId), eq(strategyVersions.version, key.version)));
  return row ?? null;
}
