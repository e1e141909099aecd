import { type SQL, sql } from "drizzle-orm";
import type { Backtest } from "./backtests.ts";
import type { Db } from "./client.ts";
import { prepareOnce } from "./prepare_once.ts";
import { backtests, optimizations } from "./schema.ts";

/** A user's tries of a strategy on a market. */
export interface RunTrials {
  /** Completed backtests. */
  readonly backtests: number;
  /** Trials of optimizations that did not fail. */
  readonly optimizationTrials: number;
}

// A strategy of the catalogue is known by its slug; code that came with the record, by its name. An index on the columns
// themselves is enough for the count, and one on an expression is not.
const countBySlug = prepareCount(sql`strategy_slug = ${sql.placeholder("strategy")}`);
const countByName = prepareCount(sql`strategy_slug is null and strategy = ${sql.placeholder("strategy")}`);

function prepareCount(isStrategy: SQL) {
  const [owner, symbol, exchange] = ["ownerId", "symbol", "exchange"].map(sql.placeholder);
  const same = sql`owner_id = ${owner} and symbol = ${symbol} and exchange = ${exchange} and ${isStrategy}`;
  const made = sql<number>`(select count(*)::int from ${backtests} where ${same} and status = 'completed')`;
  const tried = sql<
    number
  >`(select coalesce(sum(trials - trials_failed), 0)::float8 from ${optimizations} where ${same})`;
  return prepareOnce((db) => db.select({ backtests: made, optimizationTrials: tried }).from(sql`(values (1)) as one`));
}

/** Counts the tries of a backtest's owner with the same symbol, exchange and strategy: by its slug, or by its name without one. */
export async function countRunTrials(
  db: Db,
  { ownerId, symbol, exchange, strategy, strategySlug }: Pick<
    Backtest,
    "ownerId" | "symbol" | "exchange" | "strategy" | "strategySlug"
  >,
): Promise<RunTrials> {
  const market = { ownerId, symbol, exchange };
  const [row] = strategySlug === null
    ? await countByName(db, { ...market, strategy })
    : await countBySlug(db, { ...market, strategy: strategySlug });
  if (row === undefined) throw new Error(`Cannot count the trials of ${ownerId}: no row came back`);
  return row;
}
