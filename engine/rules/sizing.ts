import type { Execution } from "../execution.ts";
import { BY_CASH, BY_EQUITY_FRACTION, BY_RISK_FRACTION, SIZES_BY } from "../strategy.ts";
import { affordableUnits, feeOf } from "./fees.ts";
import type { Lots } from "./lots.ts";

/** The account and order that a size is computed from. One object serves a whole run, as a fill does (fill.ts). */
export class SizingInput {
  /** Of the account, after whatever the order closes first. */
  equity = NaN;
  /** Equity less the margin of what stays open; not below 0. All of it for a reducing order, which ties up nothing. */
  freeMargin = NaN;
  /** Whether the order may only reduce: what is open is all that it can take, so no buying power limits it. */
  reduces = false;
  /** Index into SIZES_BY, `default` resolved, and what it counts. */
  sizeBy = BY_EQUITY_FRACTION;
  size = NaN;
  /** At which the order will be filled, spread and slippage included; and the same without them. */
  price = NaN;
  raw = NaN;
  /** Distance from `price` to the order's stop; NaN when it has none on its losing side. */
  riskPerUnit = NaN;
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
 * An order that may only reduce is sized alike, as if what is open tied up no margin, and the buying power does not limit
 * it: an account that has put everything into a position can close a fraction of its equity's worth.
 */
export function sizeUnits(execution: Execution, lots: Lots, by: SizingInput): number {
  const { commission, leverage } = execution;
  const { sizeBy, size, equity, price } = by;
  const buyingPower = by.freeMargin * leverage;
  const most = by.reduces ? Infinity : buyingPower;
  if (sizeBy === BY_EQUITY_FRACTION) {
    const ofEquity = execution.fractionOf === "equity";
    const fraction = !ofEquity && size === 1 ? 1 - 2 ** -52 : size;
    const asked = ofEquity ? fraction * equity * leverage : buyingPower * Math.min(fraction, 1);
    const budget = Math.min(asked, most);
    if (execution.sizingFee === "order") return lots.roundDown(affordableUnits(commission, budget, price));
    const lotCost = price * lots.step + feeOf(commission, fraction * lots.step, by.raw) / fraction;
    // The remainder of doubles is exact, so the quotient cannot be rounded up to a lot that the budget does not hold.
    return lots.unitsOf(Math.max(0, Math.round((budget - budget % lotCost) / lotCost)));
  }
  if (sizeBy === BY_CASH) return lots.roundDown(affordableUnits(commission, size, price));
  if (sizeBy === BY_RISK_FRACTION) {
    const asked = size * equity / by.riskPerUnit;
    return lots.roundDown(Math.max(0, Math.min(asked, affordableUnits(commission, most, price))));
  }
  return lots.roundDown(size);
}

/** Index into SIZES_BY of an execution's own sizing. */
export function sizingIndex(execution: Execution): number {
  return SIZES_BY.indexOf(execution.sizing.type);
}
