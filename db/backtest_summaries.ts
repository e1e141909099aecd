import { desc, getTableColumns, sql } from "drizzle-orm";
import { type BacktestsPage, onPage } from "./backtests.ts";
import type { Db } from "./client.ts";
import { backtests } from "./schema.ts";

const { parameters: _parameters, result: _result, runtime: _runtime, ...SHORT } = getTableColumns(backtests);

/** A record without its parameters and result; of these the timeframe and a few metrics. */
export type BacktestSummary = Awaited<ReturnType<typeof listBacktestSummaries>>[number];

/** Reads a page of a user's records, each in a few hundred bytes. */
export async function listBacktestSummaries(db: Db, page: BacktestsPage) {
  const metric = (name: string) => sql<number | null>`(${backtests.result} -> 'metrics' ->> ${name})::float8`;
  return await db.select({
    ...SHORT,
    timeframe: sql<string | null>`${backtests.parameters} ->> 'timeframe'`,
    hasResult: sql<boolean>`${backtests.result} is not null`,
    total_return: metric("total_return"),
    sharpe: metric("sharpe"),
    max_drawdown: metric("max_drawdown"),
    trades: metric("trades"),
  }).from(backtests).where(onPage(page)).orderBy(desc(backtests.id)).limit(page.limit);
}
