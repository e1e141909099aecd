import type { Measured } from "../engine/metrics/measured.ts";
import { standardDeviation } from "../engine/metrics/moments.ts";
import { countSplits, overfittingProbability, type SplitsPart } from "./cross_validation.ts";
import { describeOverfitting } from "./verdict.ts";
import {
  estimateSharpe,
  expectedBest,
  haircutSharpe,
  minimumTrackRecord,
  probabilisticSharpe,
  type SharpeEstimate,
} from "./sharpe.ts";
import { countIndependent } from "./trial_clusters.ts";

/** Most trials whose returns are compared with each other. */
export const TRIALS_CONSIDERED_MAX = 1_000;

/** The trials of an optimization, as far as luck depends on them. */
export interface Trials {
  /** How many were run. */
  readonly trials: number;
  /**
   * Daily returns of those considered, each of one length: 0 after a trial's end. The best one is among them; see
   * chooseConsidered().
   */
  readonly returns: readonly Float64Array[];
  /** The place of the best trial in `returns`. */
  readonly best: number;
  readonly periodsPerYear: number;
  /** Per year. */
  readonly riskFreeRate: number;
  /** See plateau(). */
  readonly plateau: Measured;
}

const FIGURES = [
  "probabilistic_sharpe",
  "expected_best_sharpe",
  "deflated_sharpe",
  "overfitting_probability",
  "minimum_track_record_days",
  "haircut_sharpe",
  "plateau",
] as const;

/** The name of a figure of an optimization's luck; docs/research.md defines each. */
export type OverfittingFigure = typeof FIGURES[number];

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
    /** A careful person's conclusion, in one sentence. */
    readonly conclusion: string;
  };

/**
 * Chooses the trials whose returns are considered: all, or so many evenly from first to last, the best one included.
 *
 * @param trials How many there are, numbered from 0.
 * @param best The number of the best one.
 * @returns Numbers in ascending order.
 */
export function chooseConsidered(trials: number, best: number, most = TRIALS_CONSIDERED_MAX): number[] {
  if (trials <= most) return Array.from({ length: trials }, (_, i) => i);
  const chosen = Array.from({ length: most }, (_, i) => Math.floor(i * trials / most));
  const nearest = Math.floor(best * most / trials);
  return chosen.with(nearest, best);
}

/** A part of the work on an optimization's luck. */
export interface LuckPart {
  readonly counted: ReturnType<typeof countSplits>;
  /** In the first part alone. */
  readonly figures: SharpeFigures | null;
}

interface SharpeFigures {
  readonly independent: number;
  /** The best trial's, per year. */
  readonly sharpe: Measured;
  readonly measured: Record<SharpeFigure, Measured>;
}

/**
 * Does a part of the work that takes time; concludeOverfitting() joins all parts.
 *
 * @param onStep Called every few milliseconds; an error that it throws ends the work.
 */
export function measureLuckPart(input: Trials, splits: SplitsPart, onStep: () => void = () => {}): LuckPart {
  const { returns, riskFreeRate, periodsPerYear } = input;
  return {
    figures: splits.part === 0 ? measureSharpe(input, onStep) : null,
    counted: countSplits(returns, riskFreeRate / periodsPerYear, splits, onStep),
  };
}

function measureSharpe(input: Trials, onStep: () => void): SharpeFigures {
  const { trials, returns, best, riskFreeRate, periodsPerYear } = input;
  const independent = countIndependent(returns, trials, onStep);
  const estimate = estimateSharpe(returns[best]!, riskFreeRate / periodsPerYear);
  if ("reason" in estimate) return { independent, sharpe: estimate, measured: noSharpe(estimate) };
  const sharpe = estimate.sharpe * Math.sqrt(periodsPerYear);
  return { independent, sharpe, measured: sharpeFigures(input, estimate, independent) };
}

/** Measures how much of an optimization's best trial is luck. */
export function measureOverfitting(input: Trials): Overfitting {
  return concludeOverfitting(input, [measureLuckPart(input, { part: 0, parts: 1 })]);
}

/**
 * Tells how much of an optimization's best trial is luck.
 *
 * @param parts All, in their order.
 * @throws {RangeError} Without the first one.
 */
export function concludeOverfitting({ trials, returns, plateau }: Trials, parts: readonly LuckPart[]): Overfitting {
  const first = parts[0]?.figures;
  if (!first) throw new RangeError(`Cannot conclude from ${parts.length} parts without the first one`);
  const { independent, sharpe } = first;
  const measured: Record<OverfittingFigure, Measured> = {
    ...first.measured,
    overfitting_probability: overfittingProbability(parts.map(({ counted }) => counted)),
    plateau,
  };
  const reasons: Record<string, string> = {};
  const valueOf = (figure: OverfittingFigure) => {
    const value = measured[figure];
    if (typeof value === "number" && Number.isFinite(value)) return value;
    reasons[figure] = typeof value === "number" ? "beyond the range of numbers" : value.reason;
    return null;
  };
  const figures = {
    trials,
    trials_considered: returns.length,
    independent_trials: independent,
    sharpe: typeof sharpe === "number" ? sharpe : null,
    probabilistic_sharpe: valueOf("probabilistic_sharpe"),
    expected_best_sharpe: valueOf("expected_best_sharpe"),
    deflated_sharpe: valueOf("deflated_sharpe"),
    overfitting_probability: valueOf("overfitting_probability"),
    minimum_track_record_days: valueOf("minimum_track_record_days"),
    haircut_sharpe: valueOf("haircut_sharpe"),
    plateau: valueOf("plateau"),
  };
  if (typeof sharpe !== "number") reasons["sharpe"] = sharpe.reason;
  return { ...figures, undefined_figures: reasons, conclusion: describeOverfitting(figures) };
}

type SharpeFigure = Exclude<OverfittingFigure, "overfitting_probability" | "plateau">;

function sharpeFigures(
  { returns, periodsPerYear, riskFreeRate }: Trials,
  estimate: SharpeEstimate,
  independent: number,
): Record<SharpeFigure, Measured> {
  const year = Math.sqrt(periodsPerYear);
  const sharpes = returns.map((column) => {
    const each = estimateSharpe(column, riskFreeRate / periodsPerYear);
    return "reason" in each ? 0 : each.sharpe;
  });
  const deviation = sharpes.length < 2 ? 0 : standardDeviation(Float64Array.from(sharpes));
  const threshold = expectedBest(independent, deviation * deviation);
  const haircut = haircutSharpe(estimate, independent);
  return {
    probabilistic_sharpe: probabilisticSharpe(estimate, 0),
    expected_best_sharpe: threshold * year,
    deflated_sharpe: probabilisticSharpe(estimate, threshold),
    minimum_track_record_days: minimumTrackRecord(estimate, threshold),
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
