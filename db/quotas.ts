import { and, count, eq, exists, inArray, isNotNull, max, min, ne, notExists, or, sql, sum } from "drizzle-orm";
import type { Db } from "./client.ts";
import { backtests, modules, strategies, strategyVersions } from "./schema.ts";

/** Lets one transaction at a time count and add to what is a user's, until it ends; in whatever process. */
export async function lockUser(tx: Db, userId: string): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${userId}, 0))`);
}

/**
 * The place of a user's next backtest among all users' waiting ones, or null where so many of his are queued or running already.
 *
 * It is one after his own last, but not before the first that waits. So users take turns, whatever each has waiting: who comes anew
 * is served after one backtest of each other user at most, and each user's own are served in their order. Numbers begin at 0 again
 * when nothing waits.
 *
 * @param tx Holds the user's lock, or two backtests could get one turn.
 */
export async function nextTurn(tx: Db, ownerId: string, unendedMax: number): Promise<number | null> {
  const firstWaiting = tx.select({ turn: min(backtests.turn) }).from(backtests).where(eq(backtests.status, "queued"));
  const [own] = await tx.select({
    first: min(backtests.turn),
    last: max(backtests.turn),
    firstWaiting: sql<number | null>`(${firstWaiting})`,
  }).from(backtests).where(unended(ownerId));
  const { first, last, firstWaiting: earliest } = own ?? { first: null, last: null, firstWaiting: null };
  // His turns are all different, so there are no more of them than from the first to the last: counted only where that is not enough.
  const atMost = first === null || last === null ? 0 : last - first + 1;
  if (atMost >= unendedMax && await countUnended(tx, ownerId) >= unendedMax) return null;
  return Math.max((last ?? -1) + 1, earliest ?? 0);
}

async function countUnended(tx: Db, ownerId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(backtests).where(unended(ownerId));
  return row?.count ?? 0;
}

/**
 * How many versions of strategies a user keeps, and how many bytes their modules have, with those that are kept for records of his
 * backtests alone.
 *
 * @param without The sum of a module that is counted with the versions only.
 */
export async function measureRegistry(
  tx: Db,
  ownerId: string,
  without: string | null,
): Promise<{ versions: number; bytes: number }> {
  const [registered] = await tx.select({ versions: count(), bytes: sum(strategyVersions.sizeBytes) })
    .from(strategyVersions)
    .innerJoin(strategies, eq(strategies.id, strategyVersions.strategyId))
    .where(eq(strategies.ownerId, ownerId));
  const recorded = tx.select({ sha256: recordedModule }).from(backtests).where(hasModule(ownerId));
  const [brought] = await tx.select({ bytes: sum(sql`octet_length(${modules.data})`) }).from(modules).where(and(
    inArray(modules.sha256, recorded),
    without === null ? undefined : ne(modules.sha256, without),
    notExists(tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, modules.sha256))),
  ));
  return {
    versions: registered?.versions ?? 0,
    bytes: Number(registered?.bytes ?? 0) + Number(brought?.bytes ?? 0),
  };
}

/** Whether a module is kept in any case, for a version of anybody's or a record of this user's. */
export async function isModuleKept(tx: Db, ownerId: string, sha256: string): Promise<boolean> {
  const ofVersion = tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, sha256));
  const ofRecord = tx.select({ one: sql`1` }).from(backtests).where(
    and(hasModule(ownerId), eq(recordedModule, sha256)),
  );
  const rows = await tx.select({ one: sql`1` }).from(modules)
    .where(and(eq(modules.sha256, sha256), or(exists(ofVersion), exists(ofRecord))));
  return rows.length > 0;
}

const recordedModule = sql<string>`${backtests.runtime} ->> 'sha256'`;

function hasModule(ownerId: string) {
  return and(eq(backtests.ownerId, ownerId), isNotNull(recordedModule));
}

function unended(ownerId: string) {
  return and(eq(backtests.ownerId, ownerId), inArray(backtests.status, ["queued", "running"]));
}
