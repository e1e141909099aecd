/** Answers a backtest from the stored result of an equal one. */
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { readStoredResult } from "../../db/equal_results.ts";
import type { ResultInputs } from "../../db/result_inputs.ts";
import type { Outcome } from "../common/outcome.ts";
import { traceStep } from "../common/telemetry.ts";
import type { BacktestPlan } from "./plan.ts";
import type { BacktestRecords, StorableRun } from "./records.ts";

/** A plan, and the way to another one with more candles before the range. */
export interface LoadedPlan {
  readonly plan: BacktestPlan;
  readonly load: (lookback: number) => Promise<BacktestPlan>;
}

/**
 * The stored result of an equal submission of the same user: equal code, parameters, rules and candles, by the same simulator.
 *
 * @returns Null where there is none, where the submission wants none, and for endpoints, which may answer differently each time.
 */
export async function reuseResult(
  { db, records }: { readonly db: Db; readonly records: BacktestRecords },
  { ownerId, symbol, exchange, fresh, runtime }: Backtest,
  { plan: first, load }: LoadedPlan,
): Promise<Outcome<StorableRun> | null> {
  if (fresh || runtime?.type === "remote") return null;
  return await traceStep("reuse", async () => {
    const equal = await records.findEqual({ ownerId, symbol, exchange, key: first.runKey });
    if (equal === undefined) return null;
    // The strategy of that run asked for more candles, of which the first key knows nothing.
    const plan = equal.lookback === first.lookbackWanted ? first : await load(equal.lookback);
    if (plan.runKey !== equal.runKey) return null;
    const stored = await readStoredResult(db, equal.id);
    return stored && { type: "completed", ...stored, inputs: describeInputs(first, plan), reusedFrom: equal.id };
  });
}

/** The inputs of a result, for later equal submissions. @param first The plan before the strategy asked for more candles. */
export function describeInputs(first: BacktestPlan, { lookbackWanted, series }: BacktestPlan): ResultInputs {
  return { key: first.runKey, lookback: lookbackWanted, series };
}
