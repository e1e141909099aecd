import { and, count, eq, inArray, max, min, sql, sum } from "drizzle-orm";
import type { Db } from "./client.ts";
import { backtests, strategies, strategyVersions } from "./schema.ts";

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

/** How many versions of strategies a user keeps, and how many bytes their modules have. */
export async function measureRegistry(tx: Db, ownerId: string): Promise<{ versions: number; bytes: number }> {
  const [row] = await tx.select({ versions: count(), bytes: sum(strategyVersions.sizeBytes) })
    .from(strategyVersions)
    .innerJoin(strategies, eq(strategies.id, strategyVersions.strategyId))
    .where(eq(strategies.ownerId, ownerId));
  return { versions: row?.versions ?? 0, bytes: Number(row?.bytes ?? 0) };
}

function unended(ownerId: string) {
  return and(eq(backtests.ownerId, ownerId), inArray(backtests.status, ["queued", "running"]));
}
