import type { Execution } from "../execution.ts";

/**
 * Equity that is not tied up: equity less the initial margin (value / leverage) of what is open, not below 0.
 * Times leverage it is the buying power that is left.
 *
 * @param quantity Units, signed. @param price At which what is open is valued.
 */
export function freeMargin(execution: Execution, equity: number, quantity: number, price: number): number {
  return Math.max(0, equity - Math.abs(quantity) * price / execution.leverage);
}

/** What an account holds; an object, so that its numbers go from call to call without becoming objects (fill.ts). */
interface Holding {
  readonly cash: number;
  /** Units, signed. */
  readonly quantity: number;
}

/**
 * Whether a margin call is due: equity at this price below the maintenance margin, maintenanceMargin x value / leverage.
 * A long at leverage 1 owes nobody anything and has none.
 */
export function isMarginCall(execution: Execution, { cash, quantity }: Holding, price: number): boolean {
  if (!execution.marginCall || (quantity > 0 && execution.leverage <= 1) || quantity === 0) return false;
  return cash + quantity * price < execution.maintenanceMargin * Math.abs(quantity) * price / execution.leverage;
}

/**
 * The price at which a margin call becomes due: for a long any lower price calls, for a short any higher one. NaN when
 * none can.
 */
export function marginCallPrice(execution: Execution, { cash, quantity }: Holding): number {
  if (!execution.marginCall || (quantity > 0 && execution.leverage <= 1) || quantity === 0) return NaN;
  const perUnit = execution.maintenanceMargin / execution.leverage;
  return quantity > 0 ? -cash / (quantity * (1 - perUnit)) : cash / (-quantity * (1 + perUnit));
}
