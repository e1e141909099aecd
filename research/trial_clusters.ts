import { RETURN_NOISE } from "../engine/metrics/measured.ts";
import { measureMoments } from "../engine/metrics/moments.ts";

/** Trials whose daily returns correlate at least so much count as variations of one. */
export const SAME_CORRELATION = 0.5;

/**
 * Estimates how many of the trials are independent. One after the other, a trial joins the first cluster whose first
 * member it correlates with, and otherwise begins one of its own. Trials without any movement are one cluster.
 *
 * Of trials that were not considered, as many begin clusters as the considered ones that stand alone (Good 1953).
 *
 * @param returns A column of daily returns for each considered trial, all of one length.
 * @param trials All trials; at least those considered.
 * @param onStep Called before each trial; an error that it throws ends the work.
 * @returns From 1 to `trials`.
 * @see I. J. Good (1953), "The Population Frequencies of Species and the Estimation of Population Parameters", Biometrika 40.
 */
export function countIndependent(
  returns: readonly Float64Array[],
  trials: number,
  onStep: () => void = () => {},
): number {
  const leaders: Float64Array[] = [];
  const sizes: number[] = [];
  for (const column of returns) {
    onStep();
    const scores = standardScores(column);
    let found = leaders.findIndex((leader) => dot(leader, scores) >= SAME_CORRELATION);
    if (found === -1) found = leaders.push(scores) - 1;
    sizes[found] = (sizes[found] ?? 0) + 1;
  }
  const alone = sizes.filter((size) => size === 1).length;
  return Math.max(1, leaders.length + (trials - returns.length) * alone / Math.max(1, returns.length));
}

/** Scores whose product with those of another column is the correlation. Where none differ, they correlate with their like. */
function standardScores(column: Float64Array): Float64Array {
  const { mean, standardDeviation: deviation } = measureMoments(column);
  if (!(deviation > RETURN_NOISE)) return new Float64Array(column.length).fill(1 / Math.sqrt(column.length));
  const scale = deviation * Math.sqrt(column.length - 1);
  const scores = new Float64Array(column.length);
  for (let i = 0; i < column.length; i++) scores[i] = (column[i]! - mean) / scale;
  return scores;
}

function dot(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += a[i]! * b[i]!;
  return total;
}
