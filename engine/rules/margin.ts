import type { Execution } from "../execution.ts";

/**
 * Free equity: equity less the initial margin (value / leverage) of the open units, not below 0. Times leverage it is the
 * remaining buying power.
 *
 * @param quantity Open units, signed. @param price The price that values them.
 */
export function freeMargin(execution: Execution, equity: number, quantity: number, price: number): number {
  return Math.max(0, equity - Math.abs(quantity) * price / execution.leverage);
}

/** Cash and units of an account. Passed as one object, so that V8 allocates none for each number (fill.ts). */
interface Holding {
  readonly cash: number;
  /** Units, signed. */
  readonly quantity: number;
}

/**
 * True if a margin call is due: equity at this price is below the maintenance margin, maintenanceMargin x value / leverage.
 * A long at leverage 1 has borrowed nothing and has no margin call.
 */
export function isMarginCall(execution: Execution, { cash, quantity }: Holding, price: number): boolean {
  if (!execution.marginCall || (quantity > 0 && execution.leverage <= 1) || quantity === 0) return false;
  return cash + quantity * price < execution.maintenanceMargin * Math.abs(quantity) * price / execution.leverage;
}

/**
 * The price beyond which a margin call is due: below it for a long, above it for a short. NaN when none can be.
 */
export function marginCallPrice(execution: Execution, { cash, quantity }: Holding): number {
  if (!execution.marginCall || (quantity > 0 && execution.leverage <= 1) || quantity === 0) return NaN;
  const perUnit = execution.maintenanceMargin / execution.leverage;
  return quantity > 0 ? -cash / (quantity * (1 - perUnit)) : cash / (-quantity * (1 + perUnit));
}
