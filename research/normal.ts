import { normalProbability } from "../engine/metrics/moments.ts";

/** Beyond this point the continued fraction is exact within a few terms, and the difference from 1 would lose digits. */
const TAIL_START = 3;
const TAIL_TERMS = 200;

/**
 * Probability that a standard normal variable is above `x`, with a relative error of about 1e-13 far out, too.
 *
 * @see M. Abramowitz, I. Stegun (1964), 26.2.14: the continued fraction of the tail.
 */
export function upperTail(x: number): number {
  if (x < TAIL_START) return 1 - normalProbability(x);
  let fraction = x;
  for (let k = TAIL_TERMS; k >= 1; k--) fraction = x + k / fraction;
  return Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI) / fraction;
}

const CENTRE = [
  [3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125],
  [45921.953931549871457, 67265.770927008700853, 33430.575583588128105, 2509.0809287301226727],
  [1, 42.313330701600911252, 687.18700749205790830, 5394.1960214247511077],
  [21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610],
].flat();
const MIDDLE = [
  [1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504],
  [1.27045825245236838258, 0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4],
  [1, 2.05319162663775882187, 1.67638483018380384940, 0.689767334985100004550],
  [0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9],
].flat();
const FAR = [
  [6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230],
  [0.0265321895265761230930, 0.00124266094738807843860, 2.71155556874348757815e-5, 2.01033439929228813265e-7],
  [1, 0.599832206555887937690, 0.136929880922735805310, 0.0148753612908506148525],
  [7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15],
].flat();

/**
 * The point that a standard normal variable stays at or below with probability `p`, with a relative error of about 1e-16.
 *
 * @param p Between 0 and 1; minus infinity at 0, infinity at 1.
 * @see M. Wichura (1988), "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37(3).
 */
export function normalQuantile(p: number): number {
  const distance = p - 0.5;
  if (Math.abs(distance) <= 0.425) return distance * quotientOf(CENTRE, 0.180625 - distance * distance);
  const tail = Math.min(p, 1 - p);
  if (tail <= 0) return distance < 0 ? -Infinity : Infinity;
  const root = Math.sqrt(-Math.log(tail));
  const size = root <= 5 ? quotientOf(MIDDLE, root - 1.6) : quotientOf(FAR, root - 5);
  return distance < 0 ? -size : size;
}

/** A polynomial of degree seven over another; the coefficients of each in ascending order. */
function quotientOf(coefficients: readonly number[], x: number): number {
  let [above, below] = [0, 0];
  for (let i = 7; i >= 0; i--) {
    above = above * x + coefficients[i]!;
    below = below * x + coefficients[8 + i]!;
  }
  return above / below;
}
