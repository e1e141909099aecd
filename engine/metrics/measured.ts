/** A metric's value, or the reason why this run has none. */
export type Measured = number | Undefined;

interface Undefined {
  /** One of reasons.ts. */
  readonly reason: string;
}

/**
 * Numerator / denominator, or `reason` where the denominator is zero but for rounding.
 *
 * @param noise Denominators of at most this size count as zero.
 */
export function ratio(numerator: number, denominator: number, reason: string, noise = 0): Measured {
  return Math.abs(denominator) <= noise ? { reason } : numerator / denominator;
}

/** A return is a quotient near 1, less 1: a deviation of this size is rounding and not risk. */
export const RETURN_NOISE = 1e-14;
