/** Quantities this close to each other, relatively, are the same: 0.3 is three lots of 0.1. */
const ROUNDING = 2 ** -50;

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
    return this.unitsOf(Math.floor(quantity / this.step * (1 + ROUNDING)));
  }

  /** A sum of whole numbers of lots: the nearest whole number, since sums of decimals carry dust. */
  settle(quantity: number): number {
    return this.unitsOf(Math.round(quantity / this.step));
  }

  /**
   * What is left of whole lots once some of them are taken. Where rounding alone is left, it is 0: beyond some 10^15 lots
   * not even `settle` gives each quantity back as it is.
   */
  minus(quantity: number, taken: number): number {
    return taken >= quantity * (1 - ROUNDING) ? 0 : this.settle(quantity - taken);
  }
}
