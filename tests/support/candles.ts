import type { Db } from "../../db/client.ts";
import { type CandlesRead, readPlan } from "../../market/archive/read.ts";
import { type CandleQuery, planRead } from "../../market/archive/read_plan.ts";

/** The candles of a query, read as a backtest reads them. */
export async function readCandles(
  db: Db,
  { shared = false, ...query }: CandleQuery & { readonly shared?: boolean },
): Promise<CandlesRead> {
  return await readPlan(db, await planRead(db, query), { shared });
}
