/** Quantities with a relative difference up to this are equal: 0.3 is three lots of 0.1. */
const ROUNDING = 2 ** -50;

/** Quantities in whole lots of `step` units. */
export class Lots {
  readonly step: number;
  /** Lots in one unit, or NaN where that is no whole number. */
  readonly #perUnit: number;

  constructor(step: number) {
    this.step = step;
    const inverse = 1 / step;
    const perUnit = Math.round(inverse);
    this.#perUnit = perUnit >= 1 && Math.abs(inverse - perUnit) <= perUnit * 1e-12 ? perUnit : NaN;
  }

  /**
   * The units of some lots. If a unit is a whole number of lots, dividing by it keeps decimal quantities exact: 3 / 10 is
   * 0.3, 3 x 0.1 is not.
   */
  unitsOf(lots: number): number {
    return this.#perUnit >= 1 ? lots / this.#perUnit : lots * this.step;
  }

  /** Rounds a quantity down to a whole number of lots; 0 when it is smaller than one lot. */
  roundDown(quantity: number): number {
    return this.unitsOf(Math.floor(quantity / this.step * (1 + ROUNDING)));
  }

  /** Rounds a sum of lots to the nearest whole number of lots: sums of decimals carry rounding errors. */
  settle(quantity: number): number {
    return this.unitsOf(Math.round(quantity / this.step));
  }

  /**
   * Subtracts units from a quantity, both in whole lots. A rest that is only rounding is 0: beyond some 10^15 lots even
   * `settle` does not return each quantity unchanged.
   */
  minus(quantity: number, taken: number): number {
    return taken >= quantity * (1 - ROUNDING) ? 0 : this.settle(quantity - taken);
  }
}
