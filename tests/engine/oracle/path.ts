import { closeTrade, moveTrailingStop, stopOf } from "./trades.ts";
import { fillOrder, type Meeting } from "./fills.ts";
import { type Event, isPassed, isReached, nextEvent, reachableEvents } from "./events.ts";
import { callMargin, closeAll, isCalledAt, worstPrice } from "./margin.ts";
import type { Bar, Order, Reached, State, Trade } from "./state.ts";

/**
 * Walks candle `i`: the finer candles inside it if they reach its high and its low, else its own four prices. The first
 * finer candle starts at the open of the candle itself.
 */
export function walkCandle(state: State, i: number): void {
  const { candles: { time, open, high, low, close }, finer, timeframeMs } = state;
  const bars: Bar[] = [];
  for (let k = 0; finer !== null && k < finer.time.length; k++) {
    if (finer.time[k]! < time[i]! || finer.time[k]! >= closeOf(time[i]!, timeframeMs)) continue;
    const isFirst = bars.length === 0;
    const opens = isFirst ? open[i]! : finer.open[k]!;
    const [highest, lowest] = [Math.max(opens, finer.high[k]!), Math.min(opens, finer.low[k]!)];
    bars.push({ index: i, open: opens, high: highest, low: lowest, close: finer.close[k]!, isFirst });
  }
  const tellAll = Math.max(...bars.map((bar) => bar.high)) === high[i] &&
    Math.min(...bars.map((bar) => bar.low)) === low[i];
  if (tellAll) return bars.forEach((bar) => walkBar(state, bar));
  const bar = { index: i, open: open[i]!, high: high[i]!, low: low[i]!, close: close[i]!, isFirst: true };
  if (walkBar(state, bar).hadEventsOnBothSides) state.unreplayedCandles++;
}

function closeOf(open: number, timeframeMs: number | null): number {
  return timeframeMs === null ? new Date(open).setUTCMonth(new Date(open).getUTCMonth() + 1) : open + timeframeMs;
}

function walkBar(state: State, bar: Bar): { hadEventsOnBothSides: boolean } {
  for (const trade of [...state.trades]) exitAtOpen(state, bar, trade);
  for (const order of [...state.working]) fillAtOpen(state, bar, order);
  for (const trade of [...state.trades]) exitAtOpen(state, bar, trade);
  let hadEventsOnBothSides = false;
  for (;;) {
    flagAmbiguous(state, bar);
    const events = reachableEvents(state, bar);
    const next = nextEvent(state, bar, events);
    if (next === null) break;
    hadEventsOnBothSides ||= events.some((event) => event.direction !== next.direction);
    take(state, bar, next);
  }
  for (const trade of [...state.trades]) exitByClose(state, bar, trade);
  for (const trade of [...state.trades]) trail(state, bar, trade);
  callMargin(state, bar);
  return { hadEventsOnBothSides };
}

/** True if this bar may fill a trade's stop or target. */
export function mayExit(state: State, bar: Bar, trade: Trade, what: "stop" | "target"): boolean {
  if (trade.exiting !== null) return false;
  if (state.execution.entryCandleExit === false) return trade.entryIndex !== bar.index;
  if (trade.enteredIn !== bar) return true;
  return trade.entryBarExits === "both" || trade.entryBarExits === what;
}

/** How a bar's open was reached: the open of a finer bar lies inside the candle. */
function reachedAtOpen(bar: Bar, rises: boolean): Reached {
  if (bar.isFirst) return "open";
  return rises ? "from_below" : "from_above";
}

/** Closes a trade at the open if the open has passed its stop or target. */
function exitAtOpen(state: State, bar: Bar, trade: Trade): void {
  if (!state.trades.includes(trade) || trade.enteredIn === bar) return;
  const stop = stopOf(trade).price;
  const at = { level: bar.open, reached: reachedAtOpen(bar, trade.side === -1), inside: null };
  if (mayExit(state, bar, trade, "stop") && isPassed(stop, bar.open, -trade.side, false)) {
    return exitAtStop(state, trade, bar.open, at.reached);
  }
  const penetrate = state.execution.limitFill === "penetrate";
  if (!mayExit(state, bar, trade, "target") || !isPassed(trade.takeProfit, bar.open, trade.side, penetrate)) return;
  if (!state.execution.openDecides && isReached(stop, bar, -trade.side, false)) {
    return exitAtStop(state, trade, stop, at.reached);
  }
  closeTrade(state, trade, trade.lots, at, false, "take_profit");
}

/** Fills a resting order at the open if the open has passed its price. */
function fillAtOpen(state: State, bar: Bar, order: Order): void {
  if (!state.working.includes(order) || order.waitsAs === "market" || order.from > bar.index) return;
  const { side, draft: { limitPrice, stopPrice } } = order;
  const penetrate = state.execution.limitFill === "penetrate";
  if (order.waitsAs === "limit") {
    if (!isPassed(limitPrice, bar.open, -side, penetrate)) return;
  } else {
    if (!isPassed(stopPrice, bar.open, side, false)) return;
    if (order.waitsAs === "stop_limit" && side * bar.open > side * limitPrice) {
      // The stop is reached and the market is beyond the limit: from here on it is a limit order.
      order.waitsAs = "limit";
      return;
    }
  }
  const rises = order.waitsAs === "limit" ? side === -1 : side === 1;
  // The library's rule depends on the type of the order, and not on the place of its fill.
  const inside = state.execution.entryCandleExit === "same_direction" ? bar : null;
  enter(state, bar, order, { level: bar.open, reached: reachedAtOpen(bar, rises), inside });
}

/** Fills an order, and at once the exits that the price of an entry inside the bar has already passed. */
function enter(state: State, bar: Bar, order: Order, at: Meeting): void {
  const opened = state.tradesOpened;
  fillOrder(state, order, at);
  const youngest = state.trades.at(-1);
  if (at.inside === bar && state.tradesOpened > opened && youngest !== undefined) exitPassed(state, bar, youngest);
}

/** A trade is ambiguous when the bar reaches its target and also its stop or a margin call, and the open did not decide. */
function flagAmbiguous(state: State, bar: Bar): void {
  const penetrate = state.execution.limitFill === "penetrate";
  for (const trade of state.trades) {
    if (trade.exiting !== null) continue;
    if (state.execution.entryCandleExit === false && trade.entryIndex === bar.index) continue;
    const stopTouched = isReached(stopOf(trade).price, bar, -trade.side, false);
    const isLost = stopTouched || isCalledAt(state, worstPrice(state, bar));
    if (isLost && isReached(trade.takeProfit, bar, trade.side, penetrate)) trade.isAmbiguous = true;
  }
}

/** Carries out an event. */
function take(state: State, bar: Bar, event: Event): void {
  const { level } = event;
  const reached = event.direction === 1 ? "from_below" : "from_above";
  if (event.what === "stop") return exitAtStop(state, event.trade, level, reached);
  if (event.what === "target") {
    closeTrade(state, event.trade, event.trade.lots, { level, reached, inside: bar }, false, "take_profit");
    return;
  }
  if (event.what === "margin_call") return closeAll(state, reached, level, "margin_call");
  const { order } = event;
  if (order.waitsAs === "stop_limit" && order.side * level > order.side * order.draft.limitPrice) {
    // This candle does not show whether the price came back to the limit after the stop.
    order.waitsAs = "limit";
    order.from = bar.index + 1;
    return;
  }
  enter(state, bar, order, { level, reached, inside: bar });
}

/** Fills a stop or target that the entry price had already passed, at that price. */
function exitPassed(state: State, bar: Bar, trade: Trade): void {
  const { entryLevel: level, reached } = trade;
  const penetrate = state.execution.limitFill === "penetrate";
  if (mayExit(state, bar, trade, "stop") && isPassed(stopOf(trade).price, level, -trade.side, false)) {
    return exitAtStop(state, trade, level, reached);
  }
  if (!mayExit(state, bar, trade, "target") || !isPassed(trade.takeProfit, level, trade.side, penetrate)) return;
  const stopTouched = isReached(stopOf(trade).price, bar, -trade.side, false);
  if (trade.entryBarExits === "target" && stopTouched) return;
  closeTrade(state, trade, trade.lots, { level, reached, inside: bar }, false, "take_profit");
}

/** Closes a trade at its stop; units that volume does not allow are closed at the next opens. */
function exitAtStop(state: State, trade: Trade, level: number, reached: Reached): void {
  const { reason } = stopOf(trade);
  closeTrade(state, trade, trade.lots, { level, reached, inside: null }, true, reason);
  if (state.trades.includes(trade)) trade.exiting = reason;
}

/** Fills the exit that the close proves for a trade opened inside the bar: the other side came after the entry. */
function exitByClose(state: State, bar: Bar, trade: Trade): void {
  if (trade.enteredIn !== bar || trade.entryBarExits !== "both" || !mayExit(state, bar, trade, "stop")) return;
  const direction = trade.reached === "from_below" ? 1 : -1;
  const stop = stopOf(trade).price;
  if (direction === trade.side) {
    if (isPassed(stop, bar.close, -trade.side, false)) {
      exitAtStop(state, trade, stop, trade.side === 1 ? "from_above" : "from_below");
    }
    return;
  }
  if (!isPassed(trade.takeProfit, bar.close, trade.side, state.execution.limitFill === "penetrate")) return;
  const at = { level: trade.takeProfit, reached: trade.reached, inside: bar };
  closeTrade(state, trade, trade.lots, at, false, "take_profit");
}

/** Moves a trailing stop after the bar, and closes the trade if the close proves that the moved stop was hit. */
function trail(state: State, bar: Bar, trade: Trade): void {
  if (trade.exiting !== null || Number.isNaN(trade.trailStop)) return;
  const extreme = trade.side === 1 ? bar.high : bar.low;
  const towardsIt = trade.side === 1 ? "from_below" : "from_above";
  const knowsExtreme = trade.enteredIn !== bar || trade.reached === "open" || trade.reached === towardsIt;
  moveTrailingStop(trade, knowsExtreme ? extreme : bar.close);
  if (!mayExit(state, bar, trade, "stop")) return;
  const stop = stopOf(trade);
  if (stop.reason === "trailing_stop" && isPassed(stop.price, bar.close, -trade.side, false)) {
    exitAtStop(state, trade, stop.price, trade.side === 1 ? "from_above" : "from_below");
  }
}
