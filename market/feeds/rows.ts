import { allocateCandles } from "../archive/candle_columns.ts";
import { findFault } from "../archive/candle_rules.ts";
import type { FeedPart } from "./feed.ts";
import { bucketStart, type Timeframe } from "../timeframes.ts";

/** time, open, high, low, close, volume. */
export type Row = readonly [time: number, open: number, high: number, low: number, close: number, volume: number];

/**
 * Makes a part of a provider's rows: sorts them, keeps the last row of each time, drops rows outside [start, end), and drops and counts
 * rows that are no candles.
 */
export function makePart(rows: readonly Row[], timeframe: Timeframe, start: number, end: number): FeedPart {
  const inside = rows.filter(([time]) => time >= start && time < end);
  const sorted = inside.toSorted((a, b) => a[0] - b[0]);
  const unique = sorted.filter((row, i) => row[0] !== sorted[i + 1]?.[0]);
  const good = unique.filter(([time, open, high, low, close, volume]) =>
    bucketStart(time, timeframe) === time && findFault(open, high, low, close, volume) === null
  );
  const candles = allocateCandles(good.length);
  const { time, open, high, low, close, volume } = candles;
  good.forEach((row, i) => {
    [time[i], open[i], high[i], low[i], close[i]] = row;
    // Adding 0 turns -0 into 0, so that equal candles have equal bytes.
    volume[i] = row[5] + 0;
  });
  return { start, end, candles, rejected: unique.length - good.length };
}
