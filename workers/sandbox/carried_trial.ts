import { run, type RunInput } from "../../engine/run.ts";
import type { RangeDays } from "../../engine/metrics/input.ts";
import type { Strategy } from "../../engine/strategy.ts";
import type { CarriedTests, TrialValues } from "../common/protocol.ts";
import { stageStrategies } from "./staged_strategy.ts";
import type { TrialsRun } from "./trials_task.ts";

/**
 * Trades the test windows of a walk-forward optimization of a user's code as one account.
 *
 * @param stages One at least.
 * @param make Makes an instance; the one before is not used any more.
 * @throws {RunError} When the code fails.
 */
export function measureCarried(
  settings: Omit<RunInput, "strategy"> & { readonly rangeDays: RangeDays },
  stages: NonNullable<TrialsRun["later"]>,
  make: (parametersJson: string) => Strategy,
): TrialValues & Pick<CarriedTests, "marks"> {
  const makers = stages.map(({ parametersJson, fromMs }) => ({
    fromMs,
    key: parametersJson,
    make: () => make(parametersJson),
  }));
  // Its columns outlive the replays of single stages, which reuse none.
  const alone = { ...settings, pool: null };
  const strategy = stageStrategies(makers, alone, null);
  const { metrics, undefinedMetrics, dailyReturns, equity } = run({ ...alone, strategy });
  return { metrics, undefinedMetrics, dailyReturns, marks: marksOf(settings, equity) };
}

function marksOf({ rangeDays: { ends } }: { readonly rangeDays: RangeDays }, equity: Float64Array): Float64Array {
  return Float64Array.from(ends, (end) => equity[end - 1]!);
}
