/** The fee of one fill, entry or exit. */
export interface CommissionModel {
  /** Money for one fill. @param quantity Units, positive. @param price Per unit, spread and slippage included. */
  feeOf(quantity: number, price: number): number;
  /** The most units whose value and fee together fit into a budget; not rounded to lots, 0 when the fee alone does not fit. */
  affordableUnits(budget: number, price: number): number;
}
