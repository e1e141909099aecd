/** A metric's value, or the reason in words why it has none on this run. */
export type Measured = number | Undefined;

/** Why a metric has no value: a lower-case clause that can follow "undefined: ". */
export interface Undefined {
  readonly reason: string;
}

/**
 * Numerator / denominator, or `reason` where the denominator is zero (or, being a rounding error, ought to be).
 *
 * @param noise Denominators of at most this size count as zero.
 */
export function ratio(numerator: number, denominator: number, reason: string, noise = 0): Measured {
  return Math.abs(denominator) <= noise ? { reason } : numerator / denominator;
}
