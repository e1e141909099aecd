import { type Bar, equityAt, type OwnExit, position, positionSide, type Reached, type State } from "./state.ts";
import { closeTrade } from "./trades.ts";

/** A bar's worst price for the open trades. */
export function worstPrice(state: State, bar: Bar): number {
  return positionSide(state) === 1 ? bar.low : bar.high;
}

/** True if the account cannot hold the open trades at this price. */
export function isCalledAt(state: State, price: number): boolean {
  const { marginCall, leverage, maintenanceMargin } = state.execution;
  const side = positionSide(state);
  if (!marginCall || side === 0 || (side === 1 && leverage === 1)) return false;
  return equityAt(state, price) < Math.abs(position(state)) * price / leverage * maintenanceMargin;
}

/** The direction from which prices reach the worst one. */
export function towardsWorst(state: State): Reached {
  return positionSide(state) === 1 ? "from_above" : "from_below";
}

/** True if all open trades were certainly held at the bar's worst price. */
export function sawWorst(state: State, bar: Bar): boolean {
  return state.trades.every((trade) =>
    trade.enteredIn !== bar || trade.reached === "open" || trade.reached === towardsWorst(state)
  );
}

/** Liquidates after all else in a bar: at the worst price, or at the close if the worst may have come before an entry. */
export function callMargin(state: State, bar: Bar): void {
  const price = sawWorst(state, bar) ? worstPrice(state, bar) : bar.close;
  if (isCalledAt(state, price)) closeAll(state, towardsWorst(state), price, "margin_call");
}

/** Closes everything, whatever the volume. */
export function closeAll(
  state: State,
  reached: Reached,
  level: number,
  reason: OwnExit,
  trades = [...state.trades],
): void {
  state.isForced = true;
  for (const trade of trades) {
    closeTrade(state, trade, trade.lots, { level, reached, inside: null }, true, reason);
  }
  state.isForced = false;
}
