import {
  and,
  count,
  desc,
  eq,
  exists,
  inArray,
  isNotNull,
  max,
  min,
  ne,
  notExists,
  or,
  type Placeholder,
  sql,
  sum,
} from "drizzle-orm";
import type { Db } from "./client.ts";
import { queryText } from "./postgres_session.ts";
import { prepareOnce } from "./prepare_once.ts";
import { backtests, backtestSizes, modules, optimizations, strategies, strategyVersions } from "./schema.ts";
import { byVersion } from "./strategies.ts";

/** Takes a user's lock until the transaction ends: one transaction at a time, in any process, counts and adds their records. */
export async function lockUser(tx: Db, userId: string): Promise<void> {
  await queryText(tx, "select pg_advisory_xact_lock(hashtextextended($1, 0))", [userId]);
}

/** Usage of a user's quotas of backtests. */
export interface Usage {
  /** Of all their backtests, about. */
  readonly bytes: number;
  /** Of their next backtest; null when no more may wait or run. */
  readonly queuePosition: number | null;
}

/**
 * Reads a user's usage, with the queue position of their next backtest: workers take lower ones first.
 *
 * It follows the user's own last position, and is not below the first waiting one. Users are thus served in turn, however many
 * backtests each has waiting: a new user waits for at most one backtest of each other user. Each user's own keep their order.
 * Positions begin at 0 again when nothing waits.
 *
 * @param tx Holds the user's lock, or two backtests could get the same position.
 * @param unendedMax The most backtests that may be queued or running.
 */
export async function readUsage(tx: Db, ownerId: string, unendedMax: number): Promise<Usage> {
  const [own] = await selectUsage(tx, { ownerId });
  const { first = null, last = null, firstWaiting = null, bytes = null } = own ?? {};
  const usage = { bytes: Number(bytes), queuePosition: Math.max((last ?? -1) + 1, firstWaiting ?? 0) };
  // A user's positions differ, so first and last bound their number. Only too high a bound needs the slower count.
  const atMost = first === null || last === null ? 0 : last - first + 1;
  const isFull = atMost >= unendedMax && await countUnended(tx, ownerId) >= unendedMax;
  return isFull ? { ...usage, queuePosition: null } : usage;
}

const selectUsage = prepareOnce((db) => {
  const ownerId = sql.placeholder("ownerId");
  const waiting = db.select({ first: min(backtests.queuePosition) }).from(backtests)
    .where(eq(backtests.status, "queued"));
  const stored = db.select({ bytes: backtestSizes.bytes }).from(backtestSizes)
    .where(eq(backtestSizes.ownerId, ownerId));
  return db.select({
    first: min(backtests.queuePosition),
    last: max(backtests.queuePosition),
    firstWaiting: sql<number | null>`(${waiting})`,
    bytes: sql<string | null>`(${stored})`,
  }).from(backtests).where(unended(ownerId));
});

/** Counts a user's queued and running backtests. */
export async function countUnended(tx: Db, ownerId: string): Promise<number> {
  const [row] = await tx.select({ count: count() }).from(backtests).where(unended(ownerId));
  return row?.count ?? 0;
}

/**
 * Counts a user's strategy versions and the bytes of their modules, including modules that only their backtests need.
 *
 * @param without The SHA-256 of a module that does not count where only backtests need it.
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
  const recorded = [backtests, optimizations].map((records) =>
    inArray(modules.sha256, tx.select({ sha256: moduleOf(records) }).from(records).where(hasModule(records, ownerId)))
  );
  const [brought] = await tx.select({ bytes: sum(sql`octet_length(${modules.data})`) }).from(modules).where(and(
    or(...recorded),
    without === null ? undefined : ne(modules.sha256, without),
    notExists(tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, modules.sha256))),
  ));
  return {
    versions: registered?.versions ?? 0,
    bytes: Number(registered?.bytes ?? 0) + Number(brought?.bytes ?? 0),
  };
}

/** Counts the bytes that a user's public strategies take in the catalogue of everybody, as JSON without their short fields. */
export async function measurePublic(tx: Db, ownerId: string): Promise<number> {
  const { defaultConfig, parameterSchema, description } = strategies;
  const own = tx.select({ schema: strategyVersions.parameterSchema }).from(strategyVersions)
    .where(eq(strategyVersions.strategyId, strategies.id)).orderBy(desc(byVersion)).limit(1);
  const schema = sql`coalesce((${own}), ${parameterSchema})`;
  const [row] = await tx.select({
    bytes: sum(
      sql`octet_length(${defaultConfig}::text) + octet_length(${schema}::text) + octet_length(${description})`,
    ),
  }).from(strategies).where(and(eq(strategies.ownerId, ownerId), eq(strategies.isPublic, true)));
  return Number(row?.bytes ?? 0);
}

/** True if a module is stored for a version of any user or a backtest of this one. */
export async function isModuleKept(tx: Db, ownerId: string, sha256: string): Promise<boolean> {
  const ofVersion = tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, sha256));
  const ofRecords = [backtests, optimizations].map((records) =>
    exists(
      tx.select({ one: sql`1` }).from(records).where(and(hasModule(records, ownerId), eq(moduleOf(records), sha256))),
    )
  );
  const rows = await tx.select({ one: sql`1` }).from(modules)
    .where(and(eq(modules.sha256, sha256), or(exists(ofVersion), ...ofRecords)));
  return rows.length > 0;
}

type Records = typeof backtests | typeof optimizations;

function moduleOf(records: Records) {
  return sql<string>`${records.runtime} ->> 'sha256'`;
}

function hasModule(records: Records, ownerId: string) {
  return and(eq(records.ownerId, ownerId), isNotNull(moduleOf(records)));
}

function unended(ownerId: string | Placeholder) {
  return and(eq(backtests.ownerId, ownerId), inArray(backtests.status, ["queued", "running"]));
}
