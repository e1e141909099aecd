/**
 * When candles reach orders, by side: 1 buys, -1 sells. Nothing reaches a NaN price.
 *
 * A candle reaches a stop by trading at it or beyond, and a limit by trading at it (`touch`) or beyond it (`penetrate`). An
 * order that the open has already passed fills at the open: worse than asked for a stop, better for a limit. Any other
 * order fills at its own price.
 */

/** True if the open alone fills a stop order. */
export function opensBeyondStop(side: number, stop: number, open: number): boolean {
  return side > 0 ? open >= stop : open <= stop;
}

/** True if the open alone fills a limit order. */
export function opensBeyondLimit(side: number, limit: number, open: number, penetrate: boolean): boolean {
  if (penetrate) return side > 0 ? open < limit : open > limit;
  return side > 0 ? open <= limit : open >= limit;
}

/** True if a candle reaches a stop order. */
export function reachesStop(side: number, stop: number, high: number, low: number): boolean {
  return side > 0 ? high >= stop : low <= stop;
}

/** True if a candle reaches a limit order. */
export function reachesLimit(side: number, limit: number, high: number, low: number, penetrate: boolean): boolean {
  if (penetrate) return side > 0 ? low < limit : high > limit;
  return side > 0 ? low <= limit : high >= limit;
}
