import type { Reached, State, Trade } from "./state.ts";

/**
 * The largest loss (mae) and gain (mfe) of an open trade, as fractions of its entry price and at least 0, by the prices
 * that certainly lie between entry and exit.
 */
export function excursions(
  state: State,
  trade: Trade,
  exitReached: Reached,
  exitPrice: number,
): { mae: number; mfe: number } {
  const prices = [exitPrice];
  for (let i = trade.entryIndex; i <= state.index; i++) prices.push(...knownPrices(state, trade, exitReached, i));
  const gains = prices.map((price) => trade.side * (price - trade.entryPrice));
  const worst = Math.min(0, ...gains);
  return { mae: worst === 0 ? 0 : -worst / trade.entryPrice, mfe: Math.max(0, ...gains) / trade.entryPrice };
}

/** The prices of one candle that lie between entry and exit. */
function knownPrices(state: State, trade: Trade, exitReached: Reached, i: number): number[] {
  const { open, high, low, close } = state.candles;
  const isEntry = i === trade.entryIndex;
  const isExit = i === state.index;
  const whole = [open[i]!, high[i]!, low[i]!, close[i]!];
  const heldToClose = !isExit || exitReached === "close";
  if (!isEntry) return heldToClose ? whole : [open[i]!];
  if (!heldToClose || trade.reached === "close") return [];
  if (trade.reached === "open") return whole;
  return [close[i]!, trade.reached === "from_below" ? high[i]! : low[i]!];
}
