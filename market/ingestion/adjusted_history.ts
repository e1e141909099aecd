import { type ChunkRow, listChunks, readChunks } from "../../db/candle_chunks.ts";
import { listCoverage, type SeriesKey } from "../../db/coverage.ts";
import type { Db } from "../../db/client.ts";
import { isAdjusting } from "../archive/read_plan.ts";
import { lowerBound } from "../archive/candle_columns.ts";
import { DamagedChunkError, openChunk } from "../archive/chunk.ts";
import { FeedError } from "../feeds/feed.ts";
import { fetchSeries, type SeriesWork } from "./fetch_series.ts";
import { TIMEFRAME_NAMES, TIMEFRAMES } from "../timeframes.ts";

/**
 * Whether the provider of a stock gives another history than it did: a split changes every candle before it, so the oldest one is asked for
 * again. Where it has changed, nothing of the instrument counts as known any more, in any timeframe: it is fetched again when it is asked for.
 *
 * @returns Null where that cannot be told, since the provider does not give it any more.
 * @throws {FeedError} When the provider does not answer now.
 */
export async function isHistoryAdjusted(db: Db, work: SeriesWork): Promise<boolean | null> {
  const { target } = work;
  if (target.id === undefined || !isAdjusting(target)) return false;
  const oldest = await findOldest(db, target.id, work);
  if (oldest === null) return false;
  const { timeframe, start } = oldest;
  try {
    const range = { start, end: start + TIMEFRAMES[timeframe] };
    const { firstOpen, revised } = await fetchSeries(db, { ...work, timeframe, isCheck: true }, [range]);
    return firstOpen === undefined ? null : revised > 0;
  } catch (error) {
    // Plans may reach back only so far.
    if (error instanceof FeedError && error.fault === "refused") return null;
    throw error;
  }
}

/**
 * Where the oldest candle that is held and known opens, of the series that is worked on or else of another one: all of them are adjusted at
 * once. What is not known any more is to be fetched again anyway.
 */
async function findOldest(db: Db, instrumentId: string, { timeframe, feed }: SeriesWork) {
  for (const name of [timeframe, ...TIMEFRAME_NAMES]) {
    if (feed.sourceTimeframe(name) !== name) continue;
    const start = await findOldestKnown(db, { instrumentId, timeframe: name });
    if (start !== undefined) return { timeframe: name, start };
  }
  return null;
}

async function findOldestKnown(db: Db, series: SeriesKey): Promise<number | undefined> {
  const chunks = (await listChunks(db, series.instrumentId)).filter((chunk) => chunk.timeframe === series.timeframe);
  for (const { start, end } of await listCoverage(db, series)) {
    for (const { firstTime, lastTime, month } of chunks) {
      if (lastTime < start || firstTime >= end) continue;
      if (firstTime >= start) return firstTime.getTime();
      // A stretch may well begin where nothing is traded.
      const [row] = await readChunks(db, { ...series, months: [month] });
      const time = row === undefined ? new Float64Array() : readTimes(row);
      const open = time[lowerBound(time, start.getTime())];
      if (open !== undefined && open < end.getTime()) return open;
    }
  }
}

/** None of a damaged chunk: that is for those to tell who read its candles. */
function readTimes(row: ChunkRow): Float64Array {
  try {
    return openChunk(row).time;
  } catch (error) {
    if (error instanceof DamagedChunkError) return new Float64Array();
    throw error;
  }
}
