import { type ChunkRow, type NewChunk, readChunks, writeChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { lockInstrument } from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import { monthEnd, monthOf, type Timeframe } from "../timeframes.ts";
import { allocateCandles, lowerBound, sliceCandles } from "./candle_columns.ts";
import { DamagedChunkError, makeChunk, openChunk } from "./chunk.ts";
import { mergeCandles, type MergeCounts } from "./merge.ts";

/** The outcome of a store. */
export interface StoreCounts extends MergeCounts {
  /** Stored chunks that were damaged: only the new candles are left of their months. */
  readonly damaged: readonly DamagedChunkError[];
}

/**
 * Stores candles; they replace stored ones of the same time. The event that reports them belongs in the same transaction.
 *
 * @param candles Checked (see candle_rules.ts), times strictly increasing and on boundaries of the timeframe.
 */
export async function storeCandles(
  tx: Db,
  series: { readonly instrumentId: string; readonly timeframe: Timeframe },
  candles: Candles,
): Promise<StoreCounts> {
  const damaged: DamagedChunkError[] = [];
  const counts: { -readonly [Name in keyof StoreCounts]: StoreCounts[Name] } = {
    imported: 0,
    unchanged: 0,
    revised: 0,
    revisedOpens: null,
    damaged,
  };
  if (candles.time.length === 0) return counts;
  await lockInstrument(tx, series.instrumentId);
  const parts = splitByMonth(candles);
  const held = await readChunks(tx, { ...series, months: [...parts.keys()] });
  const heldByMonth = new Map(held.map((row) => [row.month, row]));
  const changed: NewChunk[] = [];
  for (const [month, part] of parts) {
    const row = heldByMonth.get(month);
    const merge = mergeCandles(row === undefined ? allocateCandles(0) : openUndamaged(row, damaged), part);
    counts.imported += merge.imported;
    counts.unchanged += merge.unchanged;
    counts.revised += merge.revised;
    if (merge.revisedOpens !== null) {
      counts.revisedOpens = [counts.revisedOpens?.[0] ?? merge.revisedOpens[0], merge.revisedOpens[1]];
    }
    if (merge.imported + merge.revised > 0) changed.push(makeChunk(series, month, merge.merged));
  }
  await writeChunks(tx, changed);
  return counts;
}

/** The candles of a chunk; of a damaged one none, and its error is added to the list. */
function openUndamaged(row: ChunkRow, damaged: DamagedChunkError[]): Candles {
  try {
    return openChunk(row);
  } catch (error) {
    if (!(error instanceof DamagedChunkError)) throw error;
    damaged.push(error);
    return allocateCandles(0);
  }
}

function splitByMonth(candles: Candles): Map<string, Candles> {
  const parts = new Map<string, Candles>();
  const { time } = candles;
  for (let from = 0; from < time.length;) {
    const month = monthOf(time[from]!);
    const until = lowerBound(time, monthEnd(month));
    parts.set(month, sliceCandles(candles, from, until));
    from = until;
  }
  return parts;
}
