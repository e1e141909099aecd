import type { Candles } from "../../engine/candles.ts";
import type { PortfolioMarket } from "../../engine/portfolio/portfolio.ts";
import { sampleCandles, sampleInput } from "./sample_candles.ts";

/** The middle of the candles that move against each other. */
const AGAINST = 10_000;
/** The number of candles by which the third market begins later. */
const LATER = 100;

/**
 * Three made-up markets: one that moves as the sample does, one against it, and one that begins later.
 *
 * @param inputs Names of other candles that each of them has.
 */
export function sampleMarkets(inputs: readonly string[] = []): PortfolioMarket[] {
  const rising = sampleCandles();
  const { time, open, high, low, close, volume } = rising;
  const against = (prices: Float64Array) => prices.map((price) => AGAINST / price);
  const falling: Candles = {
    ...{ time, open: against(open), high: against(low), low: against(high), close: against(close), volume },
  };
  const later: Candles = {
    ...{ time: time.subarray(LATER), open: open.subarray(LATER), high: high.subarray(LATER) },
    ...{ low: low.subarray(LATER), close: close.subarray(LATER), volume: volume.subarray(LATER) },
  };
  return [rising, falling, later].map((candles, n) => {
    const symbol = `SAMPLE${n + 1}`;
    const named = inputs.map((name) => ({ ...sampleInput(candles), name }));
    return { id: `${symbol}@TRIAL`, symbol, exchange: "TRIAL", candles, firstIndex: 0, inputs: named };
  });
}
