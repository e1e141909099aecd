/** Longer candles that are made of a run's own, for code that asks for them. */
import type { Candles } from "../../engine/candles.ts";
import { findKnownFrom, type InputCandles } from "../../engine/inputs.ts";
import { RESAMPLED_MS } from "./contracts/layout.ts";

// Weeks begin on Mondays: the first of them on 5 January 1970.
const MONDAY_MS = 4 * 86_400_000;

/**
 * Joins candles to longer ones, by UTC. One is known at the close of the first own candle that closes when it ends, or later.
 *
 * @param timeframe A name in RESAMPLED_MS.
 * @param ownMs Length of the own candles.
 * @throws {RangeError} When there is no such timeframe, or it is not a multiple of the run's own.
 */
export function resampleCandles(candles: Candles, timeframe: string, ownMs: number): InputCandles {
  const ms = readLongerMs(timeframe, ownMs);
  const { time, open, high, low, close, volume } = candles;
  const offset = timeframe === "1w" ? MONDAY_MS : 0;
  const begins = [...new Set(Array.from(time, (at) => Math.floor((at - offset) / ms) * ms + offset))];
  const column = () => new Float64Array(begins.length);
  const made = {
    time: Float64Array.from(begins),
    ...{ open: column(), high: column(), low: column(), close: column(), volume: column() },
  };
  for (let i = 0, k = -1; i < time.length; i++) {
    if (k < 0 || time[i]! >= begins[k]! + ms) {
      k++;
      made.open[k] = open[i]!;
      made.high[k] = high[i]!;
      made.low[k] = low[i]!;
    } else {
      made.high[k] = Math.max(made.high[k]!, high[i]!);
      made.low[k] = Math.min(made.low[k]!, low[i]!);
    }
    made.close[k] = close[i]!;
    made.volume[k]! += volume[i]!;
  }
  const closes = time.map((at) => at + ownMs);
  const knownFrom = findKnownFrom(time, closes, made.time.map((begin) => begin + ms));
  return { name: timeframe, candles: made, knownFrom, firstIndex: 0, perCandle: 1, tradingDays: null };
}

/**
 * The length of longer candles.
 *
 * @param ownMs Length of the run's own candles.
 * @throws {RangeError} When there is no such timeframe, or it is not a multiple of the run's own.
 */
export function readLongerMs(timeframe: string, ownMs: number): number {
  const isLonger = (ms: number) => ms > ownMs && ms % ownMs === 0;
  const ms = Object.hasOwn(RESAMPLED_MS, timeframe) ? RESAMPLED_MS[timeframe] : undefined;
  if (ms !== undefined && isLonger(ms)) return ms;
  const names = Object.keys(RESAMPLED_MS).filter((name) => isLonger(RESAMPLED_MS[name]!)).join(", ");
  throw new RangeError(
    `resample: the timeframe must be one of ${names || "none, as the run's is the longest"}, not ${timeframe}`,
  );
}
