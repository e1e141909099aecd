import { viewCandles } from "../../engine/candles.ts";
import { candleClose } from "../../engine/time/durations.ts";
import type { PortfolioMarket } from "../../engine/portfolio/portfolio.ts";

/** A market with the candles that have closed by an instant; the last of them does not end its trade. */
export function cutMarket(market: PortfolioMarket, until: number, timeframeMs: number | null): PortfolioMarket {
  const { candles, hours = null, firstIndex } = market;
  const closeOf = (i: number) => hours === null ? candleClose(candles.time[i]!, timeframeMs) : hours.closes[i]!;
  let count = 0;
  for (let end = candles.time.length; count < end;) {
    const middle = (count + end) >> 1;
    if (closeOf(middle) <= until) count = middle + 1;
    else end = middle;
  }
  return {
    ...market,
    candles: viewCandles(candles, 0, count),
    hours: hours && { opens: hours.opens.subarray(0, count), closes: hours.closes.subarray(0, count) },
    firstIndex: Math.min(firstIndex, count),
    isDelisted: market.isDelisted === true && count === candles.time.length,
  };
}
