import type { ExitReason } from "../../../engine/trade_columns.ts";
import { type Bar, equityAt, position, positionSide, type Reached, type State } from "./state.ts";
import { closeTrade } from "./trades.ts";

/** The price of a bar that is worst for what is open. */
export function worstPrice(state: State, bar: Bar): number {
  return positionSide(state) === 1 ? bar.low : bar.high;
}

/** Whether the account, as it is, cannot hold what is open at this price. */
export function isCalledAt(state: State, price: number): boolean {
  const { marginCall, leverage, maintenanceMargin } = state.execution;
  const side = positionSide(state);
  if (!marginCall || side === 0 || (side === 1 && leverage === 1)) return false;
  return equityAt(state, price) < Math.abs(position(state)) * price / leverage * maintenanceMargin;
}

/** How prices come to the worst one. */
export function towardsWorst(state: State): Reached {
  return positionSide(state) === 1 ? "from_above" : "from_below";
}

/** Whether all that is open was certainly held when the bar's worst price came. */
export function sawWorst(state: State, bar: Bar): boolean {
  return state.trades.every((trade) =>
    trade.enteredIn !== bar || trade.reached === "open" || trade.reached === towardsWorst(state)
  );
}

/** After everything else in a bar: liquidates at the worst price, or at the close when the worst may have come before. */
export function callMargin(state: State, bar: Bar): void {
  const price = sawWorst(state, bar) ? worstPrice(state, bar) : bar.close;
  if (isCalledAt(state, price)) closeAll(state, towardsWorst(state), price, "margin_call");
}

/** Closes everything, whole, whatever the volume. */
export function closeAll(
  state: State,
  reached: Reached,
  level: number,
  reason: ExitReason,
  trades = [...state.trades],
): void {
  state.isForced = true;
  for (const trade of trades) {
    closeTrade(state, trade, trade.lots, { level, reached, inside: null }, true, reason);
  }
  state.isForced = false;
}
