import type { Execution } from "../execution.ts";
import { BY_CASH, BY_EQUITY_FRACTION, BY_RISK_FRACTION, SIZES_BY } from "../strategy.ts";
import { affordableUnits, feeOf } from "./fees.ts";
import type { Lots } from "./lots.ts";

/** The account and order that a size is computed from. One object serves a whole run, as a fill does (fill.ts). */
export class SizingInput {
  /** Equity of the account, after the trades that the order closes first. */
  equity = NaN;
  /** Equity less the margin of the trades that stay open; not below 0. A reducing order ties up no margin. */
  freeMargin = NaN;
  /** True if the order may only reduce: the position limits it, and buying power does not. */
  reduces = false;
  /** Index into SIZES_BY, `default` resolved, and the size in its unit. */
  sizeBy = BY_EQUITY_FRACTION;
  size = NaN;
  /** The order's expected fill price with spread and slippage, and without them. */
  price = NaN;
  raw = NaN;
  /** Distance from `price` to the order's stop; NaN when it has none on its losing side. */
  riskPerUnit = NaN;
}

/**
 * Units of an order, in whole lots; 0 for less than one lot, NaN for risk sizing without a usable stop.
 *
 * - units: as asked.
 * - cash: as many as this money pays, fee included.
 * - equity_fraction: as many as value x equity x leverage pays, fee included, but no more than the free buying power (free
 *   margin x leverage). With fractionOf `free_margin` the fraction is of the free buying power; 1 counts as 1 - 2^-52, and
 *   more than 1 as 1. With sizingFee `one_lot` the fee set aside for each lot is that of an order for `value` lots, divided
 *   by value (a fixed fee counts for every lot), and lots are counted by exact division. Both are the library's arithmetic.
 * - risk_fraction: as many as lose value x equity at the stop, before costs, but no more than the free buying power pays.
 *
 * A reducing order is sized as if the open trades tied up no margin, and buying power does not limit it: a fully invested
 * account can still close units worth a fraction of its equity.
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
    // The remainder of doubles is exact: the quotient is never rounded up to a lot beyond the budget.
    return lots.unitsOf(Math.max(0, Math.round((budget - budget % lotCost) / lotCost)));
  }
  if (sizeBy === BY_CASH) return lots.roundDown(affordableUnits(commission, size, price));
  if (sizeBy === BY_RISK_FRACTION) {
    const asked = size * equity / by.riskPerUnit;
    return lots.roundDown(Math.max(0, Math.min(asked, affordableUnits(commission, most, price))));
  }
  return lots.roundDown(size);
}

/** Index into SIZES_BY of the execution's default sizing. */
export function sizingIndex(execution: Execution): number {
  return SIZES_BY.indexOf(execution.sizing.type);
}
