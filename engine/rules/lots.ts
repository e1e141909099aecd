/** A quantity this close below a whole number of lots, relatively, is that number: 0.3 is three lots of 0.1. */
const ROUNDING = 1 + 2 ** -50;

/**
 * Units of so many lots. When a whole number of lots makes one unit, dividing by it keeps decimal quantities exact:
 * 3 / 10 is 0.3, 3 x 0.1 is not.
 */
export function unitsOf(lots: number, step: number): number {
  const inverse = 1 / step;
  const perUnit = Math.round(inverse);
  return perUnit >= 1 && Math.abs(inverse - perUnit) <= perUnit * 1e-12 ? lots / perUnit : lots * step;
}

/**
 * Rounds a quantity down to a whole number of lots.
 *
 * @param step The lot, in units, above 0. @returns Units; 0 when the quantity is smaller than one lot.
 */
export function roundToLots(quantity: number, step: number): number {
  return unitsOf(Math.floor(quantity / step * ROUNDING), step);
}

/**
 * The sum or difference of whole numbers of lots: the nearest whole number, not below 0, since sums of decimals carry
 * dust.
 */
export function lotsLeft(quantity: number, step: number): number {
  return unitsOf(Math.max(0, Math.round(quantity / step)), step);
}
