import type { Execution } from "../execution.ts";
import { BY_CASH, BY_EQUITY_FRACTION, BY_RISK_FRACTION, SIZES_BY } from "../strategy.ts";
import { affordableUnits, feeOf } from "./fees.ts";
import { roundToLots, unitsOf } from "./lots.ts";

/** The state of the account in which an order is sized, after whatever the order closes first. */
export interface SizingAccount {
  equity: number;
  /** Equity less the margin of what stays open; not below 0. */
  freeMargin: number;
}

/**
 * Units of an order, in whole lots; 0 when it comes to less than one lot, NaN for risk sizing without a usable stop.
 *
 * - units: as asked.
 * - cash: so many that value and fee together cost this money.
 * - equity_fraction: so many that value and fee together cost value x equity x leverage, but no more than the free buying
 *   power (free margin x leverage). With fractionOf `free_margin` the fraction is of the free buying power, 1 is
 *   taken as 1 - 2^-52, more as all of it. With sizingFee `one_lot` the fee set aside for each lot is that of an order
 *   for `value` lots, divided by value (a fixed fee counts for every lot), and lots are counted by exact division. Both
 *   are the library's arithmetic to the last digit.
 * - risk_fraction: so many that a fill at the stop loses value x equity before costs, but no more than the free buying
 *   power buys.
 *
 * @param price At which the order will be filled, spread and slippage included. @param raw The same without them.
 * @param riskPerUnit Distance from `price` to the order's stop, NaN when it has none on its losing side.
 */
export function sizeUnits(
  execution: Execution,
  account: SizingAccount,
  sizeBy: number,
  size: number,
  price: number,
  raw: number,
  riskPerUnit: number,
): number {
  const { commission, quantityStep, leverage } = execution;
  const buyingPower = account.freeMargin * leverage;
  if (sizeBy === BY_EQUITY_FRACTION) {
    const fraction = execution.fractionOf === "free_margin" && size === 1 ? 1 - 2 ** -52 : size;
    const budget = execution.fractionOf === "free_margin"
      ? buyingPower * Math.min(fraction, 1)
      : Math.min(fraction * account.equity * leverage, buyingPower);
    return fractionUnits(execution, budget, price, raw, fraction);
  }
  if (sizeBy === BY_CASH) return roundToLots(affordableUnits(commission, size, price), quantityStep);
  if (sizeBy === BY_RISK_FRACTION) {
    const asked = size * account.equity / riskPerUnit;
    return roundToLots(Math.min(asked, affordableUnits(commission, buyingPower, price)), quantityStep);
  }
  return roundToLots(size, quantityStep);
}

function fractionUnits(execution: Execution, budget: number, price: number, raw: number, fraction: number): number {
  const { commission, quantityStep } = execution;
  if (execution.sizingFee === "order") return roundToLots(affordableUnits(commission, budget, price), quantityStep);
  const lotCost = price * quantityStep + feeOf(commission, fraction * quantityStep, raw) / fraction;
  // The remainder of doubles is exact, so the quotient cannot be rounded up to a lot that the budget does not hold.
  return unitsOf(Math.max(0, Math.round((budget - budget % lotCost) / lotCost)), quantityStep);
}

/** Index into SIZES_BY of an execution's own sizing. */
export function sizingIndex(execution: Execution): number {
  return SIZES_BY.indexOf(execution.sizing.type);
}
