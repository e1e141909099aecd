/** Combinatorial purged cross-validation: the accounts of traders who chose by all other days. */
import { ratioMetrics } from "../../engine/metrics/ratios.ts";
import type { Measured } from "../../engine/metrics/measured.ts";
import { type Measure, measureColumn, toColumn } from "./measures.ts";

/** Equal parts of the days, of which each split tests two; fewer or more of them would leave little to choose by, or to test. */
export const GROUPS = { default: 10, min: 4, max: 16 } as const;
/** The share of the days that is left out on either side of a part that is tested, before it and after it. */
const EMBARGO = 0.01;
const GROUP_DAYS_MIN = 10;

/** How the days are cut. */
export interface PathRules {
  readonly groups: number;
  /** Trading days left out on either side of what is tested; null: a hundredth of all days. */
  readonly embargoDays: number | null;
}

const RULES: PathRules = { groups: GROUPS.default, embargoDays: null };

/** One account through all days, each of which was traded by a choice that did not know it. */
interface TestedPath {
  readonly total_return: number;
  /** Per year; null without deviation. */
  readonly sharpe: number | null;
  readonly max_drawdown: number;
}

/** The accounts of all paths. */
export interface TestedPaths {
  readonly groups: number;
  /** Days left out on either side of what is tested. */
  readonly embargo_days: number;
  readonly paths: readonly TestedPath[];
}

/** The trials that are chosen from. */
interface PathTrials {
  /** A column of daily returns for each trial, all of one length. */
  readonly returns: readonly Float64Array[];
  readonly measure: Measure;
  readonly direction: "max" | "min";
  readonly periodsPerYear: number;
  /** Per year. */
  readonly riskFreeRate: number;
  /** Absent or null: 10 parts. */
  readonly pathRules?: PathRules | null;
}

/**
 * Tests each pair of the parts with the trial that is best on the other days, and joins the tests to paths.
 *
 * @param onStep Called for each trial; an error that it throws ends the work.
 * @returns Null for fewer than two trials, for too few days, and where the embargo leaves a choice without days.
 * @see M. López de Prado (2018), "Advances in Financial Machine Learning", chapter 12.
 */
export function testPaths(trials: PathTrials, onStep: () => void = () => {}): TestedPaths | null {
  const { returns } = trials;
  const { groups, embargoDays } = trials.pathRules ?? RULES;
  const days = returns[0]?.length ?? 0;
  if (returns.length < 2 || days < GROUP_DAYS_MIN * groups) return null;
  const embargo = embargoDays ?? Math.ceil(EMBARGO * days);
  const starts = Array.from({ length: groups + 1 }, (_, i) => Math.floor(i * days / groups));
  const splits = listSplits(groups);
  const trainings = splits.map((tested) => listTrainingDays(tested, starts, embargo));
  if (trainings.some((training) => countDays(training) < 2)) return null;
  const best = chooseBest(trials, trainings, onStep);
  // Each part is in as many splits as there are other parts.
  const paths = Array.from({ length: groups - 1 }, (_, path) => {
    const own = new Float64Array(days);
    for (let group = 0; group < groups; group++) {
      const split = splits.map((_, i) => i).filter((i) => splits[i]!.includes(group))[path]!;
      const [from, until] = [starts[group]!, starts[group + 1]!];
      own.set(returns[best[split]!]!.subarray(from, until), from);
    }
    return measurePath(own, trials);
  });
  return { groups, embargo_days: embargo, paths };
}

/** All pairs of parts. */
function listSplits(groups: number): (readonly [number, number])[] {
  const parts = Array.from({ length: groups }, (_, i) => i);
  return parts.flatMap((one) => parts.slice(one + 1).map((two) => [one, two] as const));
}

/** Stretches of days that are neither tested nor near what is. */
function listTrainingDays(tested: readonly number[], starts: readonly number[], embargo: number) {
  const edges = tested.map((group) => [starts[group]! - embargo, starts[group + 1]! + embargo] as const);
  const stretches: (readonly [number, number])[] = [];
  let from = 0;
  for (const [start, end] of edges) {
    if (start > from) stretches.push([from, start]);
    from = Math.max(from, end);
  }
  const days = starts.at(-1)!;
  if (from < days) stretches.push([from, days]);
  return stretches;
}

function countDays(stretches: Stretches): number {
  return stretches.reduce((days, [from, until]) => days + until - from, 0);
}

type Stretches = ReturnType<typeof listTrainingDays>;

/** The place of the best trial of each training, the first among equals. */
function chooseBest(
  { returns, measure, direction, periodsPerYear, riskFreeRate }: PathTrials,
  trainings: readonly Stretches[],
  onStep: () => void,
): Int32Array {
  const sign = direction === "max" ? 1 : -1;
  const best = new Int32Array(trainings.length);
  const scores = new Float64Array(trainings.length).fill(-Infinity);
  for (const [trial, own] of returns.entries()) {
    onStep();
    const scoreOf = makeScorer(measure, toColumn(measure, own, riskFreeRate / periodsPerYear));
    for (const [i, training] of trainings.entries()) {
      const score = sign * scoreOf(training);
      if (score > scores[i]!) [scores[i], best[i]] = [score, trial];
    }
  }
  return best;
}

/** The measure of a column over stretches of its days. */
function makeScorer(measure: Measure, column: Float64Array): (stretches: Stretches) => number {
  if (measure.kind === "path") {
    return (stretches) =>
      measureColumn(
        measure,
        Float64Array.from(stretches.flatMap(([from, until]) => [...column.subarray(from, until)])),
      );
  }
  const [firsts, seconds] = [new Float64Array(column.length + 1), new Float64Array(column.length + 1)];
  for (let day = 0; day < column.length; day++) {
    firsts[day + 1] = firsts[day]! + measure.first(column[day]!);
    seconds[day + 1] = seconds[day]! + measure.second(column[day]!);
  }
  return (stretches) => {
    let [first, second, days] = [0, 0, 0];
    for (const [from, until] of stretches) {
      first += firsts[until]! - firsts[from]!;
      second += seconds[until]! - seconds[from]!;
      days += until - from;
    }
    return measure.value(first, second, days);
  };
}

function measurePath(returns: Float64Array, { periodsPerYear, riskFreeRate }: PathTrials): TestedPath {
  let [money, peak, fall] = [1, 1, 0];
  for (const each of returns) {
    money *= Math.max(0, 1 + each);
    peak = Math.max(peak, money);
    fall = Math.max(fall, 1 - money / peak);
  }
  const sharpe: Measured = ratioMetrics({ periodsPerYear, riskFreeRate }, { returns }).sharpe;
  return { total_return: money - 1, sharpe: typeof sharpe === "number" ? sharpe : null, max_drawdown: fall };
}
