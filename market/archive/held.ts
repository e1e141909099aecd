import { listChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listCoverage, type SeriesKey } from "../../db/coverage.ts";
import { candleEnd, isTimeframe } from "../timeframes.ts";
import { subtractRanges, type TimeRange } from "./time_ranges.ts";

/** The parts of a range that were never fetched for a series, oldest first. */
export async function missingRanges(db: Db, series: SeriesKey, wanted: TimeRange): Promise<TimeRange[]> {
  return subtractRanges(wanted, await listCoverage(db, series));
}

/** From the open of the first stored candle to the close of the last; null without candles. */
export async function heldRange(db: Db, { instrumentId, timeframe }: SeriesKey): Promise<TimeRange | null> {
  const chunks = (await listChunks(db, instrumentId)).filter((chunk) => chunk.timeframe === timeframe);
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined || !isTimeframe(timeframe)) return null;
  return { start: first.firstTime.getTime(), end: candleEnd(last.lastTime.getTime(), timeframe) };
}

/**
 * The close of the last stored candle, for a search for gaps in the range that follows. Undefined where a stored candle lies in or after
 * the range, or where the time between was never fetched: then a missing candle is no gap.
 */
export async function closeBefore(db: Db, series: SeriesKey, range: TimeRange): Promise<number | undefined> {
  const end = (await heldRange(db, series))?.end ?? Infinity;
  if (end > range.start) return undefined;
  return (await missingRanges(db, series, { start: end, end: range.start })).length === 0 ? end : undefined;
}
