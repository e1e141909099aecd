/** Candles of many markets, and the rotation over them that the benches of portfolios measure. */
import type { Candles } from "../engine/candles.ts";
import type { PortfolioMarket } from "../engine/portfolio/portfolio.ts";

export const DAY_MS = 86_400_000;
export const MINUTE_MS = 60_000;
const START = Date.UTC(2014, 0, 1);

/** A monthly momentum rotation over ten years of trading days. */
export const ROTATION = {
  markets: 500,
  days: 2520,
  parameters: { top: 20, lookback: 126, skip: 0, filter: 0, every: "month", exposure: 1, minTrade: 0 },
} as const;

/** Random walks from 2014 on, a market each: `M0@X`, `M1@X` and so on. @param stepMs Length of a candle. */
export function makeMarkets(count: number, length: number, stepMs: number): PortfolioMarket[] {
  const span = stepMs === DAY_MS ? 0.04 : 0.002;
  return Array.from({ length: count }, (_, n) => ({
    id: `M${n}@X`,
    symbol: `M${n}`,
    exchange: "X",
    candles: walk(length, stepMs, 7 + n, span),
    firstIndex: 0,
  }));
}

function walk(count: number, stepMs: number, seed: number, span: number): Candles {
  const column = () => new Float64Array(count);
  const candles = { time: column(), open: column(), high: column(), low: column(), close: column(), volume: column() };
  let state = seed;
  const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  for (let i = 0, price = 100; i < count; i++) {
    const close = price * (1 + (random() - 0.499) * span);
    candles.time[i] = START + i * stepMs;
    candles.open[i] = price;
    candles.close[i] = close;
    candles.high[i] = Math.max(price, close) * (1 + random() * span / 4);
    candles.low[i] = Math.min(price, close) * (1 - random() * span / 4);
    candles.volume[i] = 100;
    price = close;
  }
  return candles;
}
