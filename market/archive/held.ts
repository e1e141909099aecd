import { listChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { listCoverage, type SeriesKey } from "../../db/coverage.ts";
import { isTimeframe, TIMEFRAMES } from "../timeframes.ts";
import { subtractRanges, type TimeRange } from "./time_ranges.ts";

/** The parts of a range of a series that were never asked for, oldest first. */
export async function missingRanges(db: Db, series: SeriesKey, wanted: TimeRange): Promise<TimeRange[]> {
  return subtractRanges(wanted, await listCoverage(db, series));
}

/** From the first held candle's open to the last one's close; null where none is held. */
export async function heldRange(db: Db, { instrumentId, timeframe }: SeriesKey): Promise<TimeRange | null> {
  const chunks = (await listChunks(db, instrumentId)).filter((chunk) => chunk.timeframe === timeframe);
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined || !isTimeframe(timeframe)) return null;
  return { start: first.firstTime.getTime(), end: last.lastTime.getTime() + TIMEFRAMES[timeframe] };
}

/**
 * The close of the last candle that is held, where a range that follows would show a gap behind it: all that is held lies before, and
 * what is between was asked for.
 */
export async function closeBefore(db: Db, series: SeriesKey, range: TimeRange): Promise<number | undefined> {
  const end = (await heldRange(db, series))?.end ?? Infinity;
  if (end > range.start) return undefined;
  return (await missingRanges(db, series, { start: end, end: range.start })).length === 0 ? end : undefined;
}
