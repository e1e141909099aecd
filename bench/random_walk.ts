import type { Candles } from "../engine/candles.ts";

/** A random walk with the digits that prices have. @param stepMs Length of a candle. @param first Its first open. */
export function makeWalk(count: number, stepMs: number, first = Date.UTC(2024, 0, 1)): Candles {
  let state = 1;
  const random = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) / 2 ** 32;
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let cents = 6_000_000;
  for (let i = 0; i < count; i++) {
    const open = cents;
    cents += Math.round((random() - 0.5) * 4000);
    candles.time[i] = first + i * stepMs;
    candles.open[i] = open / 100;
    candles.close[i] = cents / 100;
    candles.high[i] = (Math.max(open, cents) + Math.round(random() * 500)) / 100;
    candles.low[i] = (Math.min(open, cents) - Math.round(random() * 500)) / 100;
    candles.volume[i] = Math.round(random() * 1e6) / 1e4;
  }
  return candles;
}
