/**
 * When resting orders are reached, by side: 1 buys, -1 sells. NaN prices are reached by nothing.
 *
 * A stop is reached when the candle trades at it or beyond. A limit is reached when the candle trades at it (`touch`) or
 * beyond it (`penetrate`). What the open has already passed fills at the open: worse than asked for a stop, better for a
 * limit. Anything else fills at its own price.
 */

/** Whether the open alone fills a stop order. */
export function opensBeyondStop(side: number, stop: number, open: number): boolean {
  return side > 0 ? open >= stop : open <= stop;
}

/** Whether the open alone fills a limit order. */
export function opensBeyondLimit(side: number, limit: number, open: number, penetrate: boolean): boolean {
  if (penetrate) return side > 0 ? open < limit : open > limit;
  return side > 0 ? open <= limit : open >= limit;
}

/** Whether a candle reaches a stop order. */
export function reachesStop(side: number, stop: number, high: number, low: number): boolean {
  return side > 0 ? high >= stop : low <= stop;
}

/** Whether a candle reaches a limit order. */
export function reachesLimit(side: number, limit: number, high: number, low: number, penetrate: boolean): boolean {
  if (penetrate) return side > 0 ? low < limit : high > limit;
  return side > 0 ? low <= limit : high >= limit;
}
