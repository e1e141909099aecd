import type { Execution } from "../execution.ts";

/** A market's position, and the rest of its account. Passed as one object, so that V8 allocates none for each number (fill.ts). */
interface Holding {
  /** Money of the account outside of this market: cash, and the value of positions in others. */
  readonly cash: number;
  /** Units, signed. */
  readonly quantity: number;
  /** Initial margin of the positions in other markets. */
  readonly marginElsewhere: number;
  /** As `cash`, with the others at the worst prices of their candles, and their maintenance margin there. */
  readonly worstCash: number;
  readonly maintenanceElsewhere: number;
}

/**
 * Free equity: equity less the initial margin (value / leverage) of the open units of all markets, not below 0. Times leverage it is
 * the remaining buying power.
 *
 * @param quantity Open units, signed. @param price The price that values them.
 */
export function freeMargin(
  execution: Execution,
  equity: number,
  quantity: number,
  price: number,
  { marginElsewhere }: Pick<Holding, "marginElsewhere">,
): number {
  return Math.max(0, equity - Math.abs(quantity) * price / execution.leverage - marginElsewhere);
}

/** The maintenance margin of a position: maintenanceMargin x value / leverage. A long at leverage 1 has borrowed nothing. */
export function maintenanceOf(execution: Execution, quantity: number, price: number): number {
  if (!borrows(execution, quantity)) return 0;
  return execution.maintenanceMargin * Math.abs(quantity) * price / execution.leverage;
}

function borrows(execution: Execution, quantity: number): boolean {
  return quantity < 0 || execution.leverage > 1;
}

/**
 * True if a margin call is due for a market with a position: equity with this market at this price is below the maintenance margin of
 * all positions.
 */
export function isMarginCall(execution: Execution, holding: Holding, price: number): boolean {
  const { quantity } = holding;
  if (!execution.marginCall || quantity === 0) return false;
  const { maintenanceElsewhere } = holding;
  if (maintenanceElsewhere === 0 && !borrows(execution, quantity)) return false;
  return holding.worstCash + quantity * price < maintenanceOf(execution, quantity, price) + maintenanceElsewhere;
}

/**
 * The price beyond which a margin call is due in an account with one market: below it for a long, above it for a short. NaN when none
 * can be.
 */
export function marginCallPrice(execution: Execution, { cash, quantity }: Pick<Holding, "cash" | "quantity">): number {
  if (!execution.marginCall || quantity === 0 || !borrows(execution, quantity)) return NaN;
  const perUnit = execution.maintenanceMargin / execution.leverage;
  return quantity > 0 ? -cash / (quantity * (1 - perUnit)) : cash / (-quantity * (1 + perUnit));
}
