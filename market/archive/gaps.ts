import { type ChunkSummary, listChunks, readChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import type { Instrument } from "../../db/instruments.ts";
import type { Traded } from "../calendar/exchange_sessions.ts";
import { isGap } from "../calendar/trading_hours.ts";
import { candleEnd, fixedMs, type Timeframe } from "../timeframes.ts";
import { DamagedChunkError, openChunk } from "./chunk.ts";
import { daysOf } from "./made_candles.ts";
import type { TimeRange } from "./time_ranges.ts";

const GAPS_MAX = 1_000;

/** Gaps in a part of what is stored of a series. */
interface FoundGaps {
  /** From the open of the first stored candle to the close of the last one of the series; null without candles. */
  readonly held: TimeRange | null;
  /** The longest 1,000 of the part, oldest first. */
  readonly gaps: readonly TimeRange[];
  readonly count: number;
  /** Candles that were read. */
  readonly candles: number;
  /** The month up to which the search went; undefined where nothing is left. */
  readonly next: string | undefined;
}

/**
 * Yields the stretches between candles that are gaps (see isGap), oldest first.
 *
 * @param time The opens of the candles, rising, in milliseconds since 1970.
 * @param previousClose Of the candle before them; undefined where there is none.
 */
export function* gapsBetween(
  instrument: Traded,
  timeframe: Timeframe,
  time: Iterable<number>,
  previousClose: number | undefined,
): Generator<TimeRange> {
  const days = daysOf(instrument, timeframe);
  let close = previousClose;
  for (const open of time) {
    if (close !== undefined && open > close && isGap(instrument, days, close, open)) yield { start: close, end: open };
    close = candleEnd(open, timeframe);
  }
}

/**
 * Finds the gaps of a stored series. A month whose candles are as many as they can be is not read. Damaged candles count as missing.
 *
 * @param part It begins after the month `after`, and ends with the month in which `candlesMax` candles have been read.
 */
export async function findGaps(
  db: Db,
  instrument: Instrument,
  timeframe: Timeframe,
  { after, candlesMax }: { readonly after: string | undefined; readonly candlesMax: number },
): Promise<FoundGaps> {
  const chunks = (await listChunks(db, instrument.id)).filter((chunk) => chunk.timeframe === timeframe);
  const held = rangeOf(chunks, timeframe);
  const gaps: TimeRange[] = [];
  let [close, read]: [number | undefined, number] = [undefined, 0];
  for (const [i, chunk] of chunks.entries()) {
    const isKnown = after !== undefined && chunk.month <= after;
    if (!isKnown && !isWhole(chunk, timeframe)) read += chunk.candles;
    const times = isKnown ? [] : await timesOf(db, chunk, timeframe);
    gaps.push(...gapsBetween(instrument, timeframe, times, close));
    if (isKnown || times.length > 0) close = candleEnd(chunk.lastTime.getTime(), timeframe);
    if (read >= candlesMax && i + 1 < chunks.length) {
      return { held, ...longestOf(gaps), candles: read, next: chunk.month };
    }
  }
  return { held, ...longestOf(gaps), candles: read, next: undefined };
}

function rangeOf(chunks: readonly ChunkSummary[], timeframe: Timeframe): TimeRange | null {
  const [first, last] = [chunks[0], chunks.at(-1)];
  if (first === undefined || last === undefined) return null;
  return { start: first.firstTime.getTime(), end: candleEnd(last.lastTime.getTime(), timeframe) };
}

/** The opens of a chunk; of a whole one the first alone stands for all. */
async function timesOf(
  db: Db,
  chunk: ChunkSummary,
  timeframe: Timeframe,
): Promise<ArrayLike<number> & Iterable<number>> {
  if (isWhole(chunk, timeframe)) return [chunk.firstTime.getTime()];
  const [row] = await readChunks(db, { instrumentId: chunk.instrumentId, timeframe, months: [chunk.month] });
  if (row === undefined) return [];
  try {
    return openChunk(row).time;
  } catch (error) {
    if (error instanceof DamagedChunkError) return [];
    throw error;
  }
}

/** True if no candle fits between the first and the last of a chunk. */
function isWhole({ candles, firstTime, lastTime }: ChunkSummary, timeframe: Timeframe): boolean {
  const lengthMs = fixedMs(timeframe);
  return lengthMs !== null && (lastTime.getTime() - firstTime.getTime()) / lengthMs + 1 === candles;
}

function longestOf(gaps: readonly TimeRange[]): Pick<FoundGaps, "gaps" | "count"> {
  const longest = gaps.toSorted((a, b) => (b.end - b.start) - (a.end - a.start)).slice(0, GAPS_MAX);
  return { gaps: longest.sort((a, b) => a.start - b.start), count: gaps.length };
}
