import { and, count, desc, eq, ilike, lt, or, sql, sum } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { type Member, universes, universeVersions } from "./schema.ts";

export type { Member } from "./schema.ts";
type Universe = typeof universes.$inferSelect;

/** A version without its members. */
export interface UniverseVersion {
  readonly version: number;
  readonly membersCount: number;
  readonly createdAt: Date;
}

/** A universe with its newest version. */
export interface UniverseRow {
  readonly universe: Universe;
  readonly latest: UniverseVersion;
}

const VERSION = {
  version: universeVersions.version,
  membersCount: universeVersions.membersCount,
  createdAt: universeVersions.createdAt,
};

/** A user sees their own universes and public ones. */
const visibleTo = (userId: string) => or(eq(universes.ownerId, userId), eq(universes.isPublic, true));

function selectWithLatest(db: Db) {
  const latest = db.select(VERSION).from(universeVersions).where(eq(universeVersions.universeId, universes.id))
    .orderBy(desc(universeVersions.version)).limit(1).as("latest");
  return db.select({
    universe: universes,
    latest: { version: latest.version, membersCount: latest.membersCount, createdAt: latest.createdAt },
  }).from(universes).innerJoinLateral(latest, sql`true`);
}

/** Stores a universe with its first version. @returns null when the slug is taken. */
export async function insertUniverse(
  tx: Db,
  values: Pick<Universe, "ownerId" | "slug" | "description" | "isPublic">,
  members: readonly Member[],
): Promise<UniverseRow | null> {
  const [universe] = await tx.insert(universes).values({ ...values, id: uuidv7() })
    .onConflictDoNothing({ target: universes.slug }).returning();
  if (universe === undefined) return null;
  return { universe, latest: await insertUniverseVersion(tx, universe.id, 1, members) };
}

/** Stores a version. @param version One above the newest; `tx` holds the owner's lock. */
export async function insertUniverseVersion(
  tx: Db,
  universeId: string,
  version: number,
  members: readonly Member[],
): Promise<UniverseVersion> {
  const sizeBytes = JSON.stringify(members).length;
  const [row] = await tx.insert(universeVersions)
    .values({ universeId, version, members, membersCount: members.length, sizeBytes }).returning(VERSION);
  if (row === undefined) throw new Error("Cannot read the version that was just inserted");
  await tx.update(universes).set({ updatedAt: new Date() }).where(eq(universes.id, universeId));
  return row;
}

/** One universe by its slug, if the user may see it. */
export async function findUniverse(db: Db, key: { slug: string; userId: string }): Promise<UniverseRow | null> {
  const [row] = await selectWithLatest(db).where(and(eq(universes.slug, key.slug), visibleTo(key.userId)));
  return row ?? null;
}

/** The universes that a user may see, newest first. */
export async function listUniverses(db: Db, page: {
  readonly userId: string;
  readonly search?: string | undefined;
  readonly before?: string | undefined;
  readonly limit: number;
}): Promise<UniverseRow[]> {
  const pattern = page.search === undefined ? undefined : `%${page.search.replace(/[\\%_]/g, "\\$&")}%`;
  return await selectWithLatest(db).where(and(
    visibleTo(page.userId),
    pattern === undefined ? undefined : or(ilike(universes.slug, pattern), ilike(universes.description, pattern)),
    page.before === undefined ? undefined : lt(universes.id, page.before),
  )).orderBy(desc(universes.id)).limit(page.limit);
}

/** Slugs that a user may see, to suggest instead of a wrong one: the newest `limit`. */
export async function listUniverseSlugs(db: Db, userId: string, limit: number): Promise<string[]> {
  const rows = await db.select({ slug: universes.slug }).from(universes).where(visibleTo(userId))
    .orderBy(desc(universes.id)).limit(limit);
  return rows.map(({ slug }) => slug);
}

/** Changes a user's own universe. @returns True if it exists. */
export async function updateUniverse(
  db: Db,
  key: { slug: string; ownerId: string },
  changes: Partial<Pick<Universe, "description" | "isPublic">>,
): Promise<boolean> {
  const rows = await db.update(universes).set({ ...changes, updatedAt: new Date() })
    .where(and(eq(universes.slug, key.slug), eq(universes.ownerId, key.ownerId))).returning({ id: universes.id });
  return rows.length > 0;
}

/** Removes a user's own universe with its versions. Runs keep the members that they used. @returns True if it existed. */
export async function deleteUniverse(db: Db, { slug, ownerId }: { slug: string; ownerId: string }): Promise<boolean> {
  const rows = await db.delete(universes).where(and(eq(universes.slug, slug), eq(universes.ownerId, ownerId)))
    .returning({ id: universes.id });
  return rows.length > 0;
}

/** Versions of a universe, highest first. */
export async function listUniverseVersions(db: Db, page: {
  readonly universeId: string;
  readonly below?: number | undefined;
  readonly limit: number;
}): Promise<UniverseVersion[]> {
  const below = page.below === undefined ? undefined : lt(universeVersions.version, page.below);
  return await db.select(VERSION).from(universeVersions)
    .where(and(eq(universeVersions.universeId, page.universeId), below))
    .orderBy(desc(universeVersions.version)).limit(page.limit);
}

/** The members of a version; null where there is no such version. */
export async function readMembers(db: Db, universeId: string, version: number): Promise<readonly Member[] | null> {
  const [row] = await db.select({ members: universeVersions.members }).from(universeVersions)
    .where(and(eq(universeVersions.universeId, universeId), eq(universeVersions.version, version)));
  return row?.members ?? null;
}

/** How many universes a user has, and the bytes of all their versions. */
export async function measureUniverses(db: Db, ownerId: string): Promise<{ universes: number; bytes: number }> {
  const [[counted], [measured]] = await Promise.all([
    db.select({ universes: count() }).from(universes).where(eq(universes.ownerId, ownerId)),
    db.select({ bytes: sum(universeVersions.sizeBytes) }).from(universeVersions)
      .innerJoin(universes, eq(universes.id, universeVersions.universeId)).where(eq(universes.ownerId, ownerId)),
  ]);
  return { universes: counted?.universes ?? 0, bytes: Number(measured?.bytes ?? 0) };
}
