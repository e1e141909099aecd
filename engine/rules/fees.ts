import type { Commission } from "../execution.ts";

/**
 * Fee of one fill, entry or exit: rate x value + fixed + perUnit x quantity, raised to `minimum`, then cut down to
 * maximumRate x value. The value is that of the fill's price, spread and slippage included.
 *
 * @param quantity Units, positive. @param price Per unit. @returns Money.
 */
export function feeOf(commission: Commission, quantity: number, price: number): number {
  const value = quantity * price;
  const fee = Math.max(commission.minimum, value * commission.rate + commission.fixed + quantity * commission.perUnit);
  return commission.maximumRate === null ? fee : Math.min(fee, value * commission.maximumRate);
}

/**
 * The most units whose value and fee together fit into a budget; not rounded to lots, 0 when not even the fee fits.
 *
 * A fee is the lesser of its cap and the greater of its minimum and its formula, so the answer is the better of two: what
 * fits under the cap, and what fits under both minimum and formula.
 */
export function affordableUnits(commission: Commission, budget: number, price: number): number {
  const byFormula = (budget - commission.fixed) / (price * (1 + commission.rate) + commission.perUnit);
  const byMinimum = (budget - commission.minimum) / price;
  const uncapped = Math.min(byFormula, byMinimum);
  if (commission.maximumRate === null) return Math.max(0, uncapped);
  return Math.max(0, uncapped, budget / (price * (1 + commission.maximumRate)));
}
