import { type Sign, type State, unitsOf } from "./state.ts";

/** The fee of one fill: rate, fixed and per-unit parts together, at least the minimum, at most the cap. */
export function feeOf(state: State, units: number, price: number): number {
  const { rate, fixed, perUnit, minimum, maximumRate } = state.execution.commission;
  let fee = units * price * rate + fixed + units * perUnit;
  if (fee < minimum) fee = minimum;
  if (maximumRate !== null && fee > units * price * maximumRate) fee = units * price * maximumRate;
  return fee;
}

/** A price after slippage, which is always against the order. @param share Of the candle's volume. */
function slipped(state: State, price: number, side: Sign, share: number): number {
  const { slippage } = state.execution;
  if (slippage === 0) return price;
  if ("bps" in slippage) return price + side * price * slippage.bps / 10_000;
  if ("ticks" in slippage) return Math.max(price * 0.5, price + side * slippage.ticks * slippage.tickSize);
  return price + side * price * slippage.impact * Math.min(share, slippage.volumeShare) ** 2;
}

/** A price after spread: half of it at each end, or all of it at the entry. */
function spread(state: State, price: number, side: Sign, isEntry: boolean): number {
  const { spread, spreadOn } = state.execution;
  if (spreadOn === "both") return price + side * price * spread / 2;
  return isEntry ? price + side * price * spread : price;
}

/** The price of a fill while the market stands at `level`. */
export function fillPrice(
  state: State,
  level: number,
  side: Sign,
  units: number,
  isEntry: boolean,
  slips: boolean,
): number {
  const share = units / state.candles.volume[state.index]!;
  return spread(state, slips ? slipped(state, level, side, share) : level, side, isEntry);
}

/** The price that sizes an entry, with the impact of the largest fill that the volume share allows. */
export function sizingPrice(state: State, level: number, side: Sign, slips: boolean): number {
  return spread(state, slips ? slipped(state, level, side, Infinity) : level, side, true);
}

/** Units that market and stop orders may still fill in this candle. */
export function volumeLeft(state: State): number {
  const { slippage } = state.execution;
  if (state.isForced || slippage === 0 || !("volumeShare" in slippage)) return Infinity;
  const taken = state.volumeIndex === state.index ? state.volumeTaken : 0;
  return slippage.volumeShare * state.candles.volume[state.index]! - taken;
}

export function takeVolume(state: State, units: number): void {
  if (state.isForced) return;
  if (state.volumeIndex !== state.index) state.volumeTaken = 0;
  state.volumeIndex = state.index;
  state.volumeTaken += units;
}

/** Interest on the account between two opens: what longs pay on borrowed cash, and what own cash earns. */
export function interestOf(state: State): { readonly paid: number; readonly earned: number } {
  const { candles: { time, close }, execution, index, cash } = state;
  const years = (time[index]! - time[index - 1]!) / (365 * 24 * 3_600_000);
  let shorts = 0;
  for (const trade of state.trades) {
    if (trade.side === -1) shorts += unitsOf(state, trade.lots) * close[index - 1]!;
  }
  return {
    paid: Math.max(0, -cash) * execution.marginRate * years,
    earned: Math.max(0, cash - shorts) * execution.cashRate * years,
  };
}

/**
 * Money that a position receives (negative: pays) for the time between two opens: borrowing on a short, and the funding
 * rate at every 00:00, 08:00 and 16:00 UTC after the earlier open, up to and including the later one. Both count the value
 * at the earlier close.
 */
export function financingOf(state: State, side: Sign, units: number): number {
  const { candles: { time, close }, execution, index } = state;
  const from = time[index - 1]!;
  const to = time[index]!;
  const value = units * close[index - 1]!;
  const hourMs = 3_600_000;
  let money = 0;
  for (let moment = Math.floor(from / hourMs) * hourMs + hourMs; moment <= to; moment += hourMs) {
    const isFunding = moment > from && (moment / hourMs) % 8 === 0;
    if (isFunding) money -= side * value * execution.fundingRate;
  }
  if (side === -1) money -= value * execution.borrowRate * (to - from) / (365 * 24 * hourMs);
  return money;
}
