/** A quantity this close below a whole number of lots, relatively, is that number: 0.3 is three lots of 0.1. */
const ROUNDING = 1 + 2 ** -50;

/** Quantities in whole lots of `step` units. */
export class Lots {
  readonly step: number;
  /** Lots in one unit where that is a whole number; NaN: it is not. */
  readonly #perUnit: number;

  constructor(step: number) {
    this.step = step;
    const inverse = 1 / step;
    const perUnit = Math.round(inverse);
    this.#perUnit = perUnit >= 1 && Math.abs(inverse - perUnit) <= perUnit * 1e-12 ? perUnit : NaN;
  }

  /**
   * Units of so many lots. When a whole number of lots makes one unit, dividing by it keeps decimal quantities exact:
   * 3 / 10 is 0.3, 3 x 0.1 is not.
   */
  unitsOf(lots: number): number {
    return this.#perUnit >= 1 ? lots / this.#perUnit : lots * this.step;
  }

  /** Rounds a quantity down to a whole number of lots; 0 when it is smaller than one lot. */
  roundDown(quantity: number): number {
    return this.unitsOf(Math.floor(quantity / this.step * ROUNDING));
  }

  /**
   * The sum or difference of whole numbers of lots: the nearest whole number, not below 0, since sums of decimals carry
   * dust.
   */
  settle(quantity: number): number {
    return this.unitsOf(Math.max(0, Math.round(quantity / this.step)));
  }
}
