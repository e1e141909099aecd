import type { z } from "zod";
import type { Optimization } from "../../db/optimizations.ts";
import { countRunTrials } from "../../db/run_trials.ts";
import { deflatedAmongMore } from "../../research/sharpe.ts";
import type { runTrialsSchema } from "../backtests/backtest_records.ts";
import { concludeTries, countTries, deflateAmongOthers, whereOf } from "../backtests/run_trials.ts";
import type { Context } from "../common/trpc.ts";

/** The tries that an optimization's best trial is one of; null until it has ended. */
export async function readOptimizationTries(
  ctx: Pick<Context, "db" | "rowsWorker" | "userTurns">,
  row: Optimization,
): Promise<z.infer<typeof runTrialsSchema> | null> {
  if (row.status === "queued" || row.status === "running") return null;
  // Backtests of its trials count beside them: the figure is a little too strict then.
  const tries = await countRunTrials(ctx.db, row);
  const counted = await countTries(ctx, row, { tries });
  const { independent_trials: trials = 1, probabilistic_sharpe: probability = null, deflated_sharpe: deflated = null } =
    row.overfitting ?? {};
  const found = {
    sharpe: row.overfitting?.sharpe ?? null,
    ...(row.scan === null ? whereOf(row.parameters) : { where: "on these markets" } as const),
  };
  const all = Math.max(trials, counted.independent_tries);
  const deflateAmong = (count: number) =>
    probability === null || deflated === null
      ? { reason: row.overfitting?.undefined_figures["deflated_sharpe"] ?? "no trial was measured" }
      : deflatedAmongMore({ trials, probability, deflated }, count);
  const others = await deflateAmongOthers(ctx.db, { row, tries, independent: all }, deflateAmong);
  return concludeTries(counted, { ...found, deflated: deflateAmong(all), others });
}
