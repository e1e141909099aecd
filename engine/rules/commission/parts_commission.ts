import type { CommissionModel } from "./commission_model.ts";

/** Fee of one fill: money, except `rate` and `maximumRate`, which are fractions of the fill's value. */
export interface PartsSettings {
  readonly rate: number;
  readonly fixed: number;
  readonly perUnit: number;
  readonly minimum: number;
  /** The fee's cap, as a fraction of the fill's value; null: no cap. */
  readonly maximumRate: number | null;
}

/** rate x value + fixed + perUnit x quantity, at least `minimum`, at most maximumRate x value. */
export class PartsCommission implements CommissionModel {
  readonly #parts: PartsSettings;

  constructor(parts: PartsSettings) {
    this.#parts = parts;
  }

  feeOf(quantity: number, price: number): number {
    const { minimum, rate, fixed, perUnit, maximumRate } = this.#parts;
    const value = quantity * price;
    const fee = Math.max(minimum, value * rate + fixed + quantity * perUnit);
    return maximumRate === null ? fee : Math.min(fee, value * maximumRate);
  }

  /**
   * A fee is the smaller of its cap and of the larger of minimum and formula. So the answer is the larger of two counts: the
   * units that fit with the cap as fee, and those that fit with both the minimum and the formula.
   */
  affordableUnits(budget: number, price: number): number {
    const { minimum, rate, fixed, perUnit, maximumRate } = this.#parts;
    const byFormula = (budget - fixed) / (price * (1 + rate) + perUnit);
    const byMinimum = (budget - minimum) / price;
    const uncapped = Math.min(byFormula, byMinimum);
    if (maximumRate === null) return Math.max(0, uncapped);
    return Math.max(0, uncapped, budget / (price * (1 + maximumRate)));
  }
}
