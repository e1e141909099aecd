import { type Measured, RETURN_NOISE } from "../engine/metrics/measured.ts";
import {
  joinSplits,
  measureSplits,
  type SplitFigures,
  type Splits,
  type SplitsPart,
  splitTrials,
} from "./cross_validation.ts";
import { concludeLuck, type Luck } from "./luck/conclusion.ts";
import { isMeasured, measureOf } from "./luck/measures.ts";
import { type PathRules, type TestedPaths, testPaths } from "./luck/tested_paths.ts";
import { type CheckedTrials, checkReality, type RealityCheck } from "./luck/reality_check.ts";
import { resamplesOf } from "./luck/considered_trials.ts";
import {
  estimateSharpe,
  expectedBest,
  haircutSharpe,
  impliedTrials,
  minimumTrackRecord,
  probabilisticSharpe,
  type SharpeEstimate,
  varianceByChance,
} from "./sharpe.ts";

/** The trials of an optimization, as far as luck depends on them. */
export interface Trials {
  /** How many were run. */
  readonly trials: number;
  /** The metric by which the best one is chosen. */
  readonly objective: string;
  readonly direction: "max" | "min";
  /** Daily returns of those considered, each of one length: 0 after a trial's end. The best one is among them; see chooseConsidered(). */
  readonly returns: readonly Float64Array[];
  readonly numbers: readonly number[];
  /** The place of the best trial in `returns`. */
  readonly best: number;
  /** Closed trades of the best trial. */
  readonly trades: number;
  /** Places in `returns` of the trials that a guided search tried before it knew any result; absent: no trial was chosen by results. */
  readonly starts?: readonly number[];
  /** The benchmark's returns on the same days; null where they are not known. */
  readonly benchmark: Float64Array | null;
  readonly periodsPerYear: number;
  /** Per year. */
  readonly riskFreeRate: number;
  /** Calendar days that a return spans where candles are longer than a day; absent: a trading day. */
  readonly daysPerReturn?: number;
  /** See plateau(). */
  readonly plateau: Measured;
  readonly seed: number;
  /** Of tested_paths; absent or null: as they usually are. */
  readonly pathRules?: PathRules | null;
}

const FIGURES = [
  "probabilistic_sharpe",
  "expected_best_sharpe",
  "deflated_sharpe",
  "overfitting_probability",
  "loss_probability",
  "degradation_slope",
  "median_rank",
  "minimum_track_record_days",
  "haircut_sharpe",
  "plateau",
] as const;

/** The name of a figure of an optimization's luck; docs/research.md defines each. */
type OverfittingFigure = typeof FIGURES[number];

/** How much of the best trial is luck. Sharpe ratios are per year. */
export type Overfitting =
  & { readonly [figure in OverfittingFigure]: number | null }
  & {
    readonly trials: number;
    readonly trials_considered: number;
    readonly independent_trials: number;
    /** The best trial's own. */
    readonly sharpe: number | null;
    /** The reason for each null. */
    readonly undefined_figures: Readonly<Record<string, string>>;
    /** A careful person's conclusion, as in Luck. */
    readonly conclusion: string;
  };

/** Everything that is said of the luck of an optimization. */
export interface LuckReport {
  readonly overfitting: Overfitting;
  readonly luck: Luck;
  /** Of which the figures of cross-validation are made; null where there are none. */
  readonly splits: Splits | null;
}

const CHECKS = ["noGain", "benchmark", "sharpe"] as const;
type CheckName = typeof CHECKS[number];

/** A part of the work on an optimization's luck. */
export interface LuckPart {
  readonly splits: Splits | { readonly reason: string };
  readonly checks: { readonly [name in CheckName]?: RealityCheck };
  /** Of one part alone; null where there are none. */
  readonly paths?: TestedPaths | null;
}

/**
 * Does a part of the work that takes time; concludeLuckReport() joins all parts.
 *
 * @param onStep Called every few milliseconds; an error that it throws ends the work.
 */
export function measureLuckPart(input: Trials, { part, parts }: SplitsPart, onStep: () => void = () => {}): LuckPart {
  const checks: { [check in CheckName]?: RealityCheck } = {};
  for (const [i, name] of CHECKS.entries()) {
    const made = i % parts === part ? check(input, name, onStep) : null;
    if (made !== null) checks[name] = made;
  }
  const riskFree = input.riskFreeRate / input.periodsPerYear;
  const splits = splitTrials({ returns: input.returns, ...checkedOf(input), riskFree }, { part, parts }, onStep);
  // The last part has the fewest checks.
  const paths = part === parts - 1 ? { paths: testPaths({ ...input, ...checkedOf(input) }, onStep) } : {};
  return { checks, splits, ...paths };
}

/** The objective as far as daily returns give it: else the Sharpe ratio stands for it. */
function checkedOf({ objective, direction, periodsPerYear }: Trials): Pick<CheckedTrials, "measure" | "direction"> {
  const measure = measureOf(objective, periodsPerYear);
  return { measure, direction: isMeasured(objective) ? direction : "max" };
}

/** One of the checks; null where it has nothing to say. */
function check(input: Trials, name: CheckName, onStep: () => void): RealityCheck | null {
  const { returns, best, starts = [], benchmark, periodsPerYear, riskFreeRate, seed } = input;
  if ((returns[0]?.length ?? 0) < 2 || (name === "benchmark" && benchmark === null)) return null;
  // Days that do not vary cannot be told from others by chance.
  if (name === "noGain" && isConstant(returns[best]!)) return null;
  const checked = checkedOf(input);
  // Against no gain, it is the same check.
  if (name === "sharpe" && checked.measure.name === "sharpe") return null;
  const own = name === "sharpe" ? { measure: measureOf("sharpe", periodsPerYear), direction: "max" as const } : checked;
  const less = name === "benchmark" && benchmark !== null ? benchmark : riskFreeRate / periodsPerYear;
  return checkReality({ returns, best, starts, less, seed, resamples: resamplesOf(own.measure), ...own }, onStep);
}

function isConstant(returns: Float64Array): boolean {
  return returns.every((each) => Math.abs(each - returns[0]!) <= RETURN_NOISE);
}

/** Measures how much of an optimization's best trial is luck. */
export function measureLuck(input: Trials): LuckReport {
  return concludeLuckReport(input, [measureLuckPart(input, { part: 0, parts: 1 })]);
}

/** Tells how much of an optimization's best trial is luck. @param parts All, in their order. */
export function concludeLuckReport(input: Trials, parts: readonly LuckPart[]): LuckReport {
  const checks: { [name in CheckName]?: RealityCheck } = Object.assign({}, ...parts.map(({ checks }) => checks));
  const { noGain = null, benchmark = null, sharpe = noGain } = checks;
  const { measure } = checkedOf(input);
  const days = input.returns[0]?.length ?? 0;
  const paths = parts.reduce<TestedPaths | null>((found, part) => part.paths ?? found, null);
  const luck = concludeLuck({ ...input, measure, days, paths }, { noGain, benchmark });
  const best = sharpe?.expected_best ?? 0;
  const splits = joinSplits(parts.map((each) => each.splits));
  return {
    luck,
    splits: "reason" in splits ? null : splits,
    overfitting: concludeOverfitting(input, parts, { expectedSharpe: best, conclusion: luck.conclusion }),
  };
}

/** @param said `expectedSharpe`: the median of the best ratio without skill, per year. */
function concludeOverfitting(
  input: Trials,
  parts: readonly LuckPart[],
  { expectedSharpe, conclusion }: { readonly expectedSharpe: number; readonly conclusion: string },
): Overfitting {
  const { trials, returns, best, riskFreeRate, periodsPerYear, daysPerReturn = 1 } = input;
  const year = Math.sqrt(periodsPerYear);
  const days = returns[0]?.length ?? 0;
  const independent = Math.min(trials, impliedTrials(expectedSharpe / year, days));
  const estimate = estimateSharpe(returns[best]!, riskFreeRate / periodsPerYear);
  const measured = {
    sharpe: "reason" in estimate ? estimate : estimate.sharpe * year,
    ...("reason" in estimate
      ? noSharpe(estimate)
      : sharpeFigures(estimate, { trials: independent, year, daysPerReturn })),
    ...splitFigures(parts),
    plateau: input.plateau,
  };
  const reasons: Record<string, string> = {};
  const valueOf = (figure: keyof typeof measured) => {
    const value = measured[figure];
    if (typeof value === "number" && Number.isFinite(value)) return value;
    reasons[figure] = typeof value === "number" ? "beyond the range of numbers" : value.reason;
    return null;
  };
  return {
    trials,
    trials_considered: returns.length,
    independent_trials: independent,
    sharpe: valueOf("sharpe"),
    probabilistic_sharpe: valueOf("probabilistic_sharpe"),
    expected_best_sharpe: valueOf("expected_best_sharpe"),
    deflated_sharpe: valueOf("deflated_sharpe"),
    overfitting_probability: valueOf("overfitting_probability"),
    loss_probability: valueOf("loss_probability"),
    degradation_slope: valueOf("degradation_slope"),
    median_rank: valueOf("median_rank"),
    minimum_track_record_days: valueOf("minimum_track_record_days"),
    haircut_sharpe: valueOf("haircut_sharpe"),
    plateau: valueOf("plateau"),
    undefined_figures: reasons,
    conclusion,
  };
}

type SharpeFigure = Exclude<OverfittingFigure, keyof SplitFigures | "plateau">;

/** @param scale `trials`: independent ones; `year`: the root of the returns in a year. */
function sharpeFigures(
  estimate: SharpeEstimate,
  { trials, year, daysPerReturn }: { readonly trials: number; readonly year: number; readonly daysPerReturn: number },
): Record<SharpeFigure, Measured> {
  const threshold = expectedBest(trials, varianceByChance(estimate.count));
  const haircut = haircutSharpe(estimate, trials);
  const track = minimumTrackRecord(estimate, threshold);
  return {
    probabilistic_sharpe: probabilisticSharpe(estimate, 0),
    expected_best_sharpe: threshold * year,
    deflated_sharpe: probabilisticSharpe(estimate, threshold),
    minimum_track_record_days: typeof track === "number" ? track * daysPerReturn : track,
    haircut_sharpe: typeof haircut === "number" ? haircut * year : haircut,
  };
}

function noSharpe(none: { readonly reason: string }): Record<SharpeFigure, Measured> {
  return {
    probabilistic_sharpe: none,
    expected_best_sharpe: none,
    deflated_sharpe: none,
    minimum_track_record_days: none,
    haircut_sharpe: none,
  };
}

function splitFigures(parts: readonly LuckPart[]): Record<keyof SplitFigures, Measured> {
  const figures = measureSplits(parts.map(({ splits }) => splits));
  if (!("reason" in figures)) return figures;
  return {
    overfitting_probability: figures,
    loss_probability: figures,
    degradation_slope: figures,
    median_rank: figures,
  };
}
