import { listChunks } from "../db/candle_chunks.ts";
import type { SeriesKey } from "../db/coverage.ts";
import type { Db } from "../db/client.ts";
import type { TimeRange } from "./archive_step.ts";
import { FeedError } from "./feeds.ts";
import { fetchSeries, type SeriesWork } from "./fetch_series.ts";
import { isTimeframe, TIMEFRAMES } from "./timeframes.ts";

/** From the first held candle's open to the last one's close; null where none is held. */
export async function heldRange(db: Db, { instrumentId, timeframe }: SeriesKey): Promise<TimeRange | null> {
  const chunks = (await listChunks(db, instrumentId)).filter((chunk) => chunk.timeframe === timeframe);
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined || !isTimeframe(timeframe)) return null;
  return { start: first.firstTime.getTime(), end: last.lastTime.getTime() + TIMEFRAMES[timeframe] };
}

/**
 * Whether the provider of a stock gives another history than it did: a split changes every candle before it, so the oldest one is asked for
 * again. Where it has changed, nothing of the instrument counts as known any more, in any timeframe: it is fetched again when it is asked for.
 *
 * @returns Null where that cannot be told, since the provider does not give it any more.
 * @throws {FeedError} When the provider does not answer now.
 */
export async function isHistoryAdjusted(db: Db, work: SeriesWork): Promise<boolean | null> {
  const { target, timeframe } = work;
  if (target.id === undefined || target.assetClass !== "stock") return false;
  const held = await heldRange(db, { instrumentId: target.id, timeframe });
  if (held === null) return false;
  try {
    const oldest = { start: held.start, end: held.start + TIMEFRAMES[timeframe] };
    const { firstOpen, revised } = await fetchSeries(db, { ...work, isCheck: true }, [oldest]);
    return firstOpen === undefined ? null : revised > 0;
  } catch (error) {
    // Plans may reach back only so far.
    if (error instanceof FeedError && error.fault === "refused") return null;
    throw error;
  }
}
