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

/** Like `sum`, of numbers that come one at a time. */
export class Sum {
  // Fields of numbers with a fraction start as NaN (see open_trade.ts).
  #rounded = NaN;
  #lost = NaN;

  constructor() {
    this.#rounded = 0;
    this.#lost = 0;
  }

  add(value: number): void {
    const before = this.#rounded;
    const next = before + value;
    this.#lost += Math.abs(before) >= Math.abs(value) ? (before - next) + value : (value - next) + before;
    this.#rounded = next;
  }

  get total(): number {
    return this.#rounded + this.#lost;
  }
}

/** Arithmetic mean; NaN of an empty column. */
export function mean(values: Float64Array): number {
  return sum(values) / values.length;
}

/** Shape of a sample. */
export interface Moments {
  readonly mean: number;
  readonly standardDeviation: number;
  /** No unit; NaN of fewer than three values or where none differ. */
  readonly skewness: number;
  /** Beyond the normal distribution's; NaN of fewer than four values or where none differ. */
  readonly excessKurtosis: number;
}

/**
 * All moments in two passes; sums of powers of (value - mean) as `sum` makes them.
 *
 * Skewness of a sample, corrected for its size (G1): n / ((n - 1)(n - 2)) x sum(((x - mean) / s)^3).
 *
 * Kurtosis of a sample in excess of the normal distribution's 3, corrected for its size (G2):
 * n(n + 1) / ((n - 1)(n - 2)(n - 3)) x sum(((x - mean) / s)^4) - 3(n - 1)^2 / ((n - 2)(n - 3)).
 *
 * @see D. N. Joanes, C. A. Gill (1998), "Comparing measures of sample skewness and kurtosis", The Statistician 47(1).
 */
export function measureMoments(values: Float64Array): Moments {
  const n = values.length;
  const centre = mean(values);
  let [second, secondLost, third, thirdLost, fourth, fourthLost] = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    const difference = values[i]! - centre;
    const square = difference * difference;
    const seconds = second + square;
    secondLost += Math.abs(second) >= square ? (second - seconds) + square : (square - seconds) + second;
    second = seconds;
    const cube = square * difference;
    const thirds = third + cube;
    thirdLost += Math.abs(third) >= Math.abs(cube) ? (third - thirds) + cube : (cube - thirds) + third;
    third = thirds;
    const power = square * square;
    const fourths = fourth + power;
    fourthLost += Math.abs(fourth) >= power ? (fourth - fourths) + power : (power - fourths) + fourth;
    fourth = fourths;
  }
  const deviation = n < 2 ? NaN : Math.sqrt((second + secondLost) / (n - 1));
  const beyondTwo = (n - 2) * (n - 3);
  const heavy = (fourth + fourthLost) / deviation ** 4;
  return {
    mean: centre,
    standardDeviation: deviation,
    skewness: n < 3 ? NaN : (n / ((n - 1) * (n - 2))) * ((third + thirdLost) / deviation ** 3),
    excessKurtosis: n < 4 ? NaN : ((n * (n + 1)) / ((n - 1) * beyondTwo)) * heavy - (3 * (n - 1) ** 2) / beyondTwo,
  };
}

/** Sample standard deviation: the divisor is count - 1. NaN of fewer than two values. */
export function standardDeviation(values: Float64Array): number {
  return measureMoments(values).standardDeviation;
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
