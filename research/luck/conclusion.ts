import type { Measure } from "./measures.ts";
import type { Distribution, RealityCheck } from "./reality_check.ts";
import { blockDaysOf } from "./resamples.ts";
import { resamplesOf } from "./considered_trials.ts";
import type { TestedPaths } from "./tested_paths.ts";
import { describeLuck, judge, type Verdict } from "./verdict.ts";

/** Trials that pass a check: how many, and the numbers of the best ones. */
interface Survivors {
  readonly count: number;
  readonly best: readonly number[];
}

/** A check of the best trial; null where it could not be made. Objectives are in their own unit. */
interface LuckFigures {
  readonly best: number | null;
  readonly expected_best: number | null;
  readonly p_value: number | null;
  readonly spa_p_value: number | null;
  readonly survivors: Survivors | null;
  readonly distribution: Distribution | null;
  /** The number of searches that a guided one counts as; 1 of trials that were not chosen by results. */
  readonly searches: number;
  readonly verdict: Verdict;
}

/** How much of an optimization's best trial is luck: the reality check of its trials. */
export interface Luck extends LuckFigures {
  /** The metric that is checked: the optimization's objective, or another one where daily returns do not give that. */
  readonly objective: string;
  readonly days: number;
  /** Closed trades of the best trial. */
  readonly trades: number;
  readonly trials: number;
  readonly trials_considered: number;
  readonly resamples: number;
  readonly block_days: number;
  /** Against holding the benchmark; null where its returns are not known. */
  readonly against_benchmark: LuckFigures | null;
  /** Combinatorial purged cross-validation; null of too few trials or days. */
  readonly tested_paths: TestedPaths | null;
  /** A careful person's conclusion, in words. */
  readonly conclusion: string;
}

/** The trials of a conclusion. */
interface ConcludedTrials {
  readonly measure: Measure;
  /** How many were run. */
  readonly trials: number;
  /** The numbers of those considered. */
  readonly numbers: readonly number[];
  readonly days: number;
  readonly trades: number;
  readonly paths: TestedPaths | null;
}

/** Concludes from the checks of an optimization. @param checks Against no gain and against the benchmark; null where not made. */
export function concludeLuck(
  { measure, trials, numbers, days, trades, paths }: ConcludedTrials,
  checks: { readonly noGain: RealityCheck | null; readonly benchmark: RealityCheck | null },
): Luck {
  const show = (check: RealityCheck | null) => {
    const figures = check === null ? NO_FIGURES : showCheck(check, numbers);
    return { ...figures, verdict: judge({ ...figures, days, trades }) };
  };
  const noGain = show(checks.noGain);
  const benchmark = checks.benchmark === null ? null : show(checks.benchmark);
  return {
    objective: measure.name,
    days,
    trades,
    trials,
    trials_considered: numbers.length,
    resamples: resamplesOf(measure),
    block_days: blockDaysOf(days),
    ...noGain,
    against_benchmark: benchmark,
    tested_paths: paths,
    conclusion: describeLuck({ objective: measure.name, trials, days, trades, ...noGain }, benchmark),
  };
}

const NO_FIGURES = {
  best: null,
  expected_best: null,
  p_value: null,
  spa_p_value: null,
  survivors: null,
  distribution: null,
  searches: 1,
};

function showCheck({ survivors, ...figures }: RealityCheck, numbers: readonly number[]) {
  return { ...figures, survivors: { ...survivors, best: survivors.best.map((place) => numbers[place]!) } };
}
