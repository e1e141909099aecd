import { type ChunkRow, listChunks, readChunks } from "../../db/candle_chunks.ts";
import { listCoverage, type SeriesKey } from "../../db/coverage.ts";
import type { Db } from "../../db/client.ts";
import { isAdjusting } from "../archive/read_plan.ts";
import { lowerBound } from "../archive/candle_columns.ts";
import { DamagedChunkError, openChunk } from "../archive/chunk.ts";
import { FeedError } from "../feeds/feed.ts";
import { fetchSeries, type SeriesWork } from "./fetch_series.ts";
import { candleEnd, TIMEFRAME_NAMES } from "../timeframes.ts";

/**
 * Tells if the provider of a stock has changed its history: a split changes every earlier candle, so the oldest one is fetched again and
 * compared. If it differs, the coverage of the instrument is cleared in every timeframe, and later requests fetch it again.
 *
 * @returns Null where the provider no longer has the candle, so the answer is unknown.
 * @throws {FeedError} When the provider does not answer.
 */
export async function isHistoryAdjusted(db: Db, work: SeriesWork): Promise<boolean | null> {
  const { target } = work;
  if (target.id === undefined || !isAdjusting(target)) return false;
  const oldest = await findOldest(db, target.id, work);
  if (oldest === null) return false;
  const { timeframe, start } = oldest;
  try {
    const range = { start, end: candleEnd(start, timeframe) };
    const { firstOpen, revised } = await fetchSeries(db, { ...work, timeframe, isCheck: true }, [range]);
    return firstOpen === undefined ? null : revised > 0;
  } catch (error) {
    // Some plans of a provider reach back only a few years.
    if (error instanceof FeedError && error.fault === "refused") return null;
    throw error;
  }
}

/**
 * The open of the oldest candle that is stored and covered: of this series, or else of another one, since a split adjusts all of them.
 * Candles without coverage are fetched again anyway.
 */
async function findOldest(db: Db, instrumentId: string, { timeframe, feed, target }: SeriesWork) {
  for (const name of [timeframe, ...TIMEFRAME_NAMES]) {
    if (feed.sourceTimeframe(name, target.assetClass) !== name) continue;
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
      // A covered range may begin at a time without trade.
      const [row] = await readChunks(db, { ...series, months: [month] });
      const time = row === undefined ? new Float64Array() : readTimes(row);
      const open = time[lowerBound(time, start.getTime())];
      if (open !== undefined && open < end.getTime()) return open;
    }
  }
}

/** The times of a chunk; none of a damaged one, which the next reader of its candles reports. */
function readTimes(row: ChunkRow): Float64Array {
  try {
    return openChunk(row).time;
  } catch (error) {
    if (error instanceof DamagedChunkError) return new Float64Array();
    throw error;
  }
}
