import { and, desc, eq, isNull, or, type SQL, sql } from "drizzle-orm";
import type { CandleSetting } from "../research/space.ts";
import type { Backtest } from "./backtests.ts";
import type { Db } from "./client.ts";
import { prepareOnce } from "./prepare_once.ts";
import { backtests, optimizations } from "./schema.ts";

/** A user's tries of a strategy on a market. */
export interface RunTrials {
  /** Completed backtests with different run keys: a run that is verified, repeated or reused is one. */
  readonly backtests: number;
  /** Trials of optimizations that did not fail. */
  readonly optimizationTrials: number;
  /** The number of independent trials that these amount to, by their returns; trials without returns count one each. */
  readonly independentTrials: number;
  /** The trials whose returns were not compared. */
  readonly unmeasuredTrials: number;
}

/** By what the tries around a backtest are found. */
export type TriedMarket = Pick<Backtest, "ownerId" | "symbol" | "exchange" | "strategy" | "strategySlug">;

/** An optimization over the range of a backtest. */
export type RangeOptimization = Pick<
  typeof optimizations.$inferSelect,
  "parameters" | "space" | "startDate" | "endDate"
>;

/** Most optimizations over the range of a backtest that are looked at. */
const RANGE_OPTIMIZATIONS_MAX = 50;

// A strategy of the catalogue is known by its slug; code that came with the record, by its name. An index on the columns
// themselves is enough for the count, and one on an expression is not.
const countBySlug = prepareCount(sql`strategy_slug = ${sql.placeholder("strategy")}`);
const countByName = prepareCount(sql`strategy_slug is null and strategy = ${sql.placeholder("strategy")}`);
const countByMarket = prepareCount(sql`true`);

function prepareCount(isStrategy: SQL) {
  const [owner, symbol, exchange] = ["ownerId", "symbol", "exchange"].map(sql.placeholder);
  const same = sql`owner_id = ${owner} and symbol = ${symbol} and exchange = ${exchange} and ${isStrategy}`;
  const made = sql<
    number
  >`(select count(distinct run_key)::int from ${backtests} where ${same} and status = 'completed')`;
  const tried = sql<number>`trials - trials_failed`;
  const measured = sql`(overfitting ->> 'independent_trials')::float8`;
  const sum = (value: SQL) =>
    sql<number>`(select coalesce(sum(${value}), 0)::float8 from ${optimizations} where ${same})`;
  return prepareOnce((db) =>
    db.select({
      backtests: made,
      optimizationTrials: sum(tried),
      independentTrials: sum(sql`coalesce(${measured}, ${tried})`),
      unmeasuredTrials: sum(sql`case when ${measured} is null then ${tried} else 0 end`),
    }).from(sql`(values (1)) as one`)
  );
}

/** Counts the tries of a backtest's owner with the same symbol, exchange and strategy: by its slug, or by its name without one. */
export async function countRunTrials(
  db: Db,
  { ownerId, symbol, exchange, strategy, strategySlug }: TriedMarket,
): Promise<RunTrials> {
  const market = { ownerId, symbol, exchange };
  const [row] = strategySlug === null
    ? await countByName(db, { ...market, strategy })
    : await countBySlug(db, { ...market, strategy: strategySlug });
  if (row === undefined) throw new Error(`Cannot count the trials of ${ownerId}: no row came back`);
  return row;
}

/** The tries of the same owner on the same market that countRunTrials() leaves out: of other strategies, or under other names. */
export interface OtherTries {
  readonly count: number;
  /** The number of independent tries that these amount to at most: backtests count one each. */
  readonly independent: number;
}

/** Counts the tries on a market beside those of countRunTrials(). @param own What that counted. */
export async function countOtherTries(
  db: Db,
  { ownerId, symbol, exchange }: TriedMarket,
  own: RunTrials,
): Promise<OtherTries> {
  const [all] = await countByMarket(db, { ownerId, symbol, exchange });
  if (all === undefined) throw new Error(`Cannot count the tries of ${ownerId}: no row came back`);
  // Equal code under another name has the same run key, and is no other try. Deleted ones may be missing from the later count.
  const backtests = Math.max(0, all.backtests - own.backtests);
  const count = backtests + Math.max(0, all.optimizationTrials - own.optimizationTrials);
  return { count, independent: backtests + Math.max(0, all.independentTrials - own.independentTrials) };
}

/**
 * The runs that countRunTrials() counts, one of each run key. They are in the order of their run keys, which have no order of their own:
 * the first ones are any of them.
 */
export async function listRunTries(
  db: Db,
  { ownerId, symbol, exchange, strategy, strategySlug }: TriedMarket,
  limit: number,
): Promise<{ readonly id: string; readonly runKey: string | null }[]> {
  const { id, runKey } = backtests;
  return await db.selectDistinctOn([backtests.strategy, runKey], { id, runKey }).from(backtests).where(and(
    eq(backtests.ownerId, ownerId),
    eq(backtests.symbol, symbol),
    eq(backtests.exchange, exchange),
    strategySlug === null
      ? and(isNull(backtests.strategySlug), eq(backtests.strategy, strategy))
      : eq(backtests.strategySlug, strategySlug),
    eq(backtests.status, "completed"),
  )).orderBy(backtests.strategy, runKey, id).limit(limit);
}

/** The owner's newest optimizations of the same strategy over a backtest's own range and balance. */
export async function findRangeOptimizations(
  db: Db,
  { ownerId, symbol, exchange, strategy, strategySlug, startDate, endDate, initialBalance }: Backtest,
): Promise<RangeOptimization[]> {
  const { parameters, space } = optimizations;
  const dates = { startDate: optimizations.startDate, endDate: optimizations.endDate };
  const varies = (name: CandleSetting) => sql`${space} @> ${JSON.stringify({ axes: [{ candles: name }] })}::jsonb`;
  return await db.select({ parameters, space, ...dates }).from(optimizations).where(and(
    eq(optimizations.ownerId, ownerId),
    eq(optimizations.symbol, symbol),
    eq(optimizations.exchange, exchange),
    strategySlug === null
      ? and(isNull(optimizations.strategySlug), eq(optimizations.strategy, strategy))
      : eq(optimizations.strategySlug, strategySlug),
    or(eq(optimizations.startDate, startDate), varies("start_date")),
    or(eq(optimizations.endDate, endDate), varies("end_date")),
    eq(optimizations.initialBalance, initialBalance),
  )).orderBy(desc(optimizations.id)).limit(RANGE_OPTIMIZATIONS_MAX);
}
