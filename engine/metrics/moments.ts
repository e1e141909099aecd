/**
 * Sum, left to right, with Neumaier's compensation: the same order gives the same bytes, and a long column of small
 * numbers loses nothing beside a large total.
 *
 * @see A. Neumaier (1974), "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54.
 */
export function sum(values: Float64Array): number {
  let total = 0;
  let lost = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? (total - next) + value : (value - next) + total;
    total = next;
  }
  return total + lost;
}

/** Arithmetic mean; NaN of an empty column. */
export function mean(values: Float64Array): number {
  return sum(values) / values.length;
}

/** Sum of (value - mean)^power over a column, left to right. */
function centralSum(values: Float64Array, power: 2 | 3 | 4): number {
  const centre = mean(values);
  const powers = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const difference = values[i]! - centre;
    const square = difference * difference;
    powers[i] = power === 2 ? square : power === 3 ? square * difference : square * square;
  }
  return sum(powers);
}

/** Sample standard deviation: the divisor is count - 1. NaN of fewer than two values. */
export function standardDeviation(values: Float64Array): number {
  return values.length < 2 ? NaN : Math.sqrt(centralSum(values, 2) / (values.length - 1));
}

/**
 * Skewness of a sample, corrected for its size (G1): n / ((n - 1)(n - 2)) x sum(((x - mean) / s)^3).
 *
 * @returns No unit; NaN of fewer than three values or where none differ.
 * @see D. N. Joanes, C. A. Gill (1998), "Comparing measures of sample skewness and kurtosis", The Statistician 47(1).
 */
export function skewness(values: Float64Array): number {
  const n = values.length;
  if (n < 3) return NaN;
  return (n / ((n - 1) * (n - 2))) * (centralSum(values, 3) / standardDeviation(values) ** 3);
}

/**
 * Kurtosis of a sample in excess of the normal distribution's 3, corrected for its size (G2):
 * n(n + 1) / ((n - 1)(n - 2)(n - 3)) x sum(((x - mean) / s)^4) - 3(n - 1)^2 / ((n - 2)(n - 3)).
 *
 * @returns No unit; NaN of fewer than four values or where none differ.
 * @see D. N. Joanes, C. A. Gill (1998), as above.
 */
export function excessKurtosis(values: Float64Array): number {
  const n = values.length;
  if (n < 4) return NaN;
  const fourth = centralSum(values, 4) / standardDeviation(values) ** 4;
  const beyondTwo = (n - 2) * (n - 3);
  return ((n * (n + 1)) / ((n - 1) * beyondTwo)) * fourth - (3 * (n - 1) ** 2) / beyondTwo;
}

/**
 * Probability that a standard normal variable is at most `x`, to an absolute error of about 1e-15.
 *
 * @see G. Marsaglia (2004), "Evaluating the Normal Distribution", Journal of Statistical Software 11(4): the series
 *   x + x^3/3 + x^5/(3x5) + ... times the density, about one half.
 */
export function normalProbability(x: number): number {
  if (x < -8.3) return 0;
  if (x > 8.3) return 1;
  const square = x * x;
  let term = x;
  let total = x;
  let before = NaN;
  for (let odd = 3; total !== before; odd += 2) {
    before = total;
    term *= square / odd;
    total += term;
  }
  return 0.5 + total * Math.exp(-square / 2) / Math.sqrt(2 * Math.PI);
}
