import { exitAll } from "./exits.ts";
import { AT_OPEN, BEFORE_ALL, FROM_ABOVE, FROM_BELOW } from "./open_trades.ts";
import { isMarginCall } from "./rules/margin.ts";
import type { Simulation } from "./simulation.ts";
import { EXIT_REASONS } from "./trade_columns.ts";

export const MARGIN_CALL = EXIT_REASONS.indexOf("margin_call");

/** Liquidates at a price of candle `i`. */
export function liquidate(sim: Simulation, i: number, price: number): void {
  exitAll(sim, i, sim.ledger.side > 0 ? FROM_ABOVE : FROM_BELOW, price, MARGIN_CALL);
}

/** Liquidates where what is open cannot be held at the worst price, or at the close if the worst may have come before. */
export function callMargin(sim: Simulation, i: number, worst: number, close: number): void {
  const price = isWorstSeen(sim) ? worst : close;
  if (isMarginCall(sim.execution, sim.ledger, price)) liquidate(sim, i, price);
}

/** Whether the worst price of this step of the walk certainly came after the entry of all that is open. */
export function isWorstSeen({ ledger: { open, side }, step }: Simulation): boolean {
  const towardsWorst = side > 0 ? FROM_ABOVE : FROM_BELOW;
  for (let row = open.count - 1; row >= 0 && open.at(row).entryStep === step; row--) {
    const { entryKind: kind, entryPath } = open.at(row);
    if (entryPath !== BEFORE_ALL && kind !== AT_OPEN && kind !== towardsWorst) return false;
  }
  return true;
}
