import { buyingPowerOf, type SizingInput, type SizingRules } from "./sizing_model.ts";

/** The number of units that lose value x equity at the stop, before costs, but no more than the free buying power pays. */
export function sizeByRiskFraction(by: SizingInput, rules: SizingRules): number {
  const asked = by.size * by.equity / by.riskPerUnit;
  const payable = rules.commission.affordableUnits(buyingPowerOf(by, rules), by.price);
  return rules.lots.roundDown(Math.max(0, Math.min(asked, payable)));
}
