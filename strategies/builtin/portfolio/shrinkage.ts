/** A symmetric matrix of n x n values, row by row. */
export interface Covariance {
  readonly size: number;
  readonly values: Float64Array;
  /** The part of the target in it: 0 is the sample's covariance, 1 the same variance for all and no correlation. */
  readonly intensity: number;
}

/**
 * The covariance of returns, shrunk towards a multiple of the identity. The sample's covariance of many instruments is nearly
 * singular; this one can always be inverted, and no other linear combination of the two is expected to be nearer to the truth.
 *
 * @param returns A column an instrument, equally long, at least two values each.
 * @see O. Ledoit and M. Wolf (2004), "A well-conditioned estimator for large-dimensional covariance matrices", Journal of Multivariate
 * Analysis 88(2).
 */
export function shrunkCovariance(returns: readonly Float64Array[]): Covariance {
  const size = returns.length;
  const count = returns[0]?.length ?? 0;
  const centred = returns.map((column) => {
    const mean = column.reduce((sum, value) => sum + value, 0) / count;
    return column.map((value) => value - mean);
  });
  const values = new Float64Array(size * size);
  let [trace, squares, fourths] = [0, 0, 0];
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b++) {
      const [x, y] = [centred[a]!, centred[b]!];
      let [sum, sumOfSquares] = [0, 0];
      for (let t = 0; t < count; t++) {
        const product = x[t]! * y[t]!;
        sum += product;
        sumOfSquares += product * product;
      }
      const covariance = sum / count;
      values[a * size + b] = values[b * size + a] = covariance;
      const times = a === b ? 1 : 2;
      squares += times * covariance * covariance;
      fourths += times * (sumOfSquares / count - covariance * covariance);
      if (a === b) trace += covariance;
    }
  }
  const variance = trace / size;
  // The distance of the sample from its target, and the part of it that is noise.
  const distance = squares - size * variance * variance;
  const intensity = distance > 0 ? Math.min(1, fourths / count / distance) : 1;
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < size; b++) {
      const target = a === b ? variance : 0;
      values[a * size + b] = intensity * target + (1 - intensity) * values[a * size + b]!;
    }
  }
  return { size, values, intensity };
}

/**
 * The weights of least variance that add up to 1 and are not negative. Instruments with a negative weight are left out, all at once, until
 * there is none: exact for those that stay.
 */
export function leastVariance({ size, values }: Covariance): Float64Array {
  const weights = new Float64Array(size);
  let chosen = Array.from({ length: size }, (_, n) => n);
  while (chosen.length > 0) {
    const solved = solveOnes(chosen.map((a) => Float64Array.from(chosen, (b) => values[a * size + b]!)));
    const sum = solved.reduce((total, value) => total + value, 0);
    if (solved.every((value) => value >= 0) && sum > 0) {
      chosen.forEach((n, k) => weights[n] = solved[k]! / sum);
      return weights;
    }
    const kept = chosen.filter((_, k) => solved[k]! > 0);
    chosen = kept.length < chosen.length ? kept : [];
  }
  return weights;
}

/** The standard deviation of the returns of a mix. @param weights As many as there are instruments. */
export function volatilityOfMix({ size, values }: Covariance, weights: Float64Array): number {
  let variance = 0;
  for (let a = 0; a < size; a++) {
    for (let b = 0; b < size; b++) variance += weights[a]! * weights[b]! * values[a * size + b]!;
  }
  return Math.sqrt(Math.max(0, variance));
}

/** Solves `matrix x = 1` for a symmetric positive definite matrix, by Cholesky's decomposition. Overwrites the matrix. */
function solveOnes(matrix: readonly Float64Array[]): Float64Array {
  const size = matrix.length;
  const solved = new Float64Array(size).fill(1);
  for (let a = 0; a < size; a++) {
    for (let b = 0; b <= a; b++) {
      let sum = matrix[a]![b]!;
      for (let k = 0; k < b; k++) sum -= matrix[a]![k]! * matrix[b]![k]!;
      matrix[a]![b] = a === b ? Math.sqrt(sum) : sum / matrix[b]![b]!;
    }
    for (let k = 0; k < a; k++) solved[a]! -= matrix[a]![k]! * solved[k]!;
    solved[a]! /= matrix[a]![a]!;
  }
  for (let a = size - 1; a >= 0; a--) {
    for (let k = a + 1; k < size; k++) solved[a]! -= matrix[k]![a]! * solved[k]!;
    solved[a]! /= matrix[a]![a]!;
  }
  return solved;
}
