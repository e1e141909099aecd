import { mayExit } from "./path.ts";
import { isCalledAt, sawWorst, worstPrice } from "./margin.ts";
import { type Bar, type Order, positionSide, type Sign, type State, type Trade } from "./state.ts";
import { stopOf } from "./trades.ts";

/** A price inside a bar that causes an event. */
export type Event =
  & { readonly level: number; /** 1: above the open, -1: below it. */ readonly direction: Sign }
  & (
    | { readonly what: "stop"; readonly trade: Trade }
    | { readonly what: "target"; readonly trade: Trade }
    | { readonly what: "order"; readonly order: Order }
    | { readonly what: "margin_call" }
  );

/**
 * True if a price is at a level or beyond it; only beyond for a limit that must be penetrated. No price passes NaN.
 *
 * @param direction 1: the level is passed by prices at or above it; -1: at or below it.
 */
export function isPassed(level: number, price: number, direction: number, penetrate: boolean): boolean {
  if (Number.isNaN(level)) return false;
  return penetrate ? direction * price > direction * level : direction * price >= direction * level;
}

/** True if a bar reaches a level. */
export function isReached(level: number, bar: Bar, direction: number, penetrate: boolean): boolean {
  return isPassed(level, direction > 0 ? bar.high : bar.low, direction, penetrate);
}

/** All possible events in the rest of a bar: trades, oldest first, a stop before a target; then orders. */
export function reachableEvents(state: State, bar: Bar): Event[] {
  const events = state.trades.flatMap((trade) => guardEvents(state, bar, trade));
  const { execution } = state;
  const penetrate = execution.limitFill === "penetrate";
  for (const order of state.working) {
    if (order.waitsAs === "market" || order.from > bar.index) continue;
    const { side, draft: { limitPrice, stopPrice } } = order;
    const isLimit = order.waitsAs === "limit";
    const level = isLimit ? limitPrice : stopPrice;
    const direction: Sign = (side === 1) === isLimit ? -1 : 1;
    if (isReached(level, bar, direction, isLimit && penetrate)) events.push({ level, direction, what: "order", order });
  }
  const level = worstPrice(state, bar);
  if (execution.bothTouched !== "target_first" && isCalledAt(state, level) && sawWorst(state, bar)) {
    events.push({ level, direction: positionSide(state) === 1 ? -1 : 1, what: "margin_call" });
  }
  return events;
}

/** The stop and target of a trade, if they are certainly reached while it is open. */
function guardEvents(state: State, bar: Bar, trade: Trade): Event[] {
  const events: Event[] = [];
  const { side, takeProfit } = trade;
  const stop = stopOf(trade).price;
  const penetrate = state.execution.limitFill === "penetrate";
  const targetsFirst = state.execution.bothTouched === "target_first";
  const stopTouched = mayExit(state, bar, trade, "stop") && isReached(stop, bar, -side, false);
  const targetTouched = mayExit(state, bar, trade, "target") && isReached(takeProfit, bar, side, penetrate);
  const against: Sign = side === 1 ? -1 : 1;
  let stopCounts = stopTouched;
  let targetCounts = targetTouched;
  if (trade.enteredIn === bar) {
    // Prices further on in the direction of the entry come after it; prices behind it may come before.
    const ahead: Sign = trade.reached === "from_below" ? 1 : trade.reached === "from_above" ? -1 : aheadAtOpen(trade);
    const mayBeLost = isReached(stop, bar, -side, false) || isCalledAt(state, worstPrice(state, bar));
    const closeProvesTarget = isPassed(takeProfit, bar.close, side, penetrate);
    stopCounts = stopTouched && ahead === -side && !(targetsFirst && closeProvesTarget);
    targetCounts = targetTouched && ahead === side &&
      (!mayBeLost || (targetsFirst && trade.entryBarExits === "both"));
  }
  if (stopCounts) events.push({ level: stop, direction: against, what: "stop", trade });
  if (targetCounts) events.push({ level: takeProfit, direction: side, what: "target", trade });
  return events;
}

/** The direction of prices that reach an order: towards its side for a stop, against it for a limit. */
function aheadAtOpen(trade: Trade): Sign {
  const isStop = trade.entryBarExits === "target";
  return (trade.side === 1) === isStop ? 1 : -1;
}

const STOPS_FIRST = { margin_call: 0, stop: 0, order: 1, target: 2 };
const TARGETS_FIRST = { target: 0, order: 1, stop: 2, margin_call: 2 };

/** The first event, or null. Below the open prices fall, above it they rise. */
export function nextEvent(state: State, bar: Bar, events: readonly Event[]): Event | null {
  const down = nearest(events, -1);
  const up = nearest(events, 1);
  if (down === null || up === null) return down ?? up;
  const { bothTouched } = state.execution;
  if (bothTouched === "nearest") return bar.open - bar.low <= bar.high - bar.open ? down : up;
  if (down.what === "order" && up.what === "order") return down.order.number < up.order.number ? down : up;
  const priority = bothTouched === "target_first" ? TARGETS_FIRST : STOPS_FIRST;
  return priority[down.what] <= priority[up.what] ? down : up;
}

/** The event that is nearest on one side of the open; of equals the first in the list. */
function nearest(events: readonly Event[], direction: Sign): Event | null {
  let found: Event | null = null;
  for (const event of events) {
    if (event.direction !== direction) continue;
    if (found === null || direction * event.level < direction * found.level) found = event;
  }
  return found;
}
