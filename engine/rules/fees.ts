import type { Commission } from "../execution.ts";

/**
 * Fee of one fill, entry or exit: rate x value + fixed + perUnit x quantity, at least `minimum`, at most maximumRate x
 * value. The value counts the fill's price, spread and slippage included.
 *
 * @param quantity Units, positive. @param price Per unit. @returns Money.
 */
export function feeOf(commission: Commission, quantity: number, price: number): number {
  const value = quantity * price;
  const fee = Math.max(commission.minimum, value * commission.rate + commission.fixed + quantity * commission.perUnit);
  return commission.maximumRate === null ? fee : Math.min(fee, value * commission.maximumRate);
}

/**
 * The most units whose value and fee together fit into a budget; not rounded to lots, 0 when the fee alone does not fit.
 *
 * A fee is the smaller of its cap and of the larger of minimum and formula. So the answer is the larger of two counts: the
 * units that fit with the cap as fee, and those that fit with both the minimum and the formula.
 */
export function affordableUnits(commission: Commission, budget: number, price: number): number {
  const byFormula = (budget - commission.fixed) / (price * (1 + commission.rate) + commission.perUnit);
  const byMinimum = (budget - commission.minimum) / price;
  const uncapped = Math.min(byFormula, byMinimum);
  if (commission.maximumRate === null) return Math.max(0, uncapped);
  return Math.max(0, uncapped, budget / (price * (1 + commission.maximumRate)));
}
