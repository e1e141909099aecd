import { buyingPowerOf, type SizingInput, type SizingRules } from "./sizing_model.ts";

/**
 * The number of units that value x equity x leverage pays, fee included, but no more than the free buying power (free margin x
 * leverage).
 *
 * With fractionOf `free_margin` the fraction is of the free buying power; 1 counts as 1 - 2^-52, and more than 1 as 1. With
 * sizingFee `one_lot` the fee set aside for each lot is that of an order for `value` lots, divided by value (a fixed fee
 * counts for every lot), and lots are counted by exact division. Both are the library's arithmetic.
 */
export function sizeByEquityFraction(by: SizingInput, rules: SizingRules): number {
  const { execution, lots, commission, margin } = rules;
  const { size, equity, price } = by;
  const ofEquity = execution.fractionOf === "equity";
  const fraction = !ofEquity && size === 1 ? 1 - 2 ** -52 : size;
  const asked = ofEquity
    ? margin.buyingPowerOf(fraction * equity)
    : margin.buyingPowerOf(by.freeMargin) * Math.min(fraction, 1);
  const budget = Math.min(asked, buyingPowerOf(by, rules));
  if (execution.sizingFee === "order") return lots.roundDown(commission.affordableUnits(budget, price));
  const lotCost = price * lots.step + commission.feeOf(fraction * lots.step, by.raw) / fraction;
  // The remainder of doubles is exact: the quotient is never rounded up to a lot beyond the budget.
  return lots.unitsOf(Math.max(0, Math.round((budget - budget % lotCost) / lotCost)));
}
