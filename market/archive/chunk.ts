import { createHash } from "node:crypto";
import type { ChunkRow, ChunkSummary, NewChunk } from "../../db/candle_chunks.ts";
import { decodeColumns, encodeColumns } from "../../db/codec/columns.ts";
import { readRecord } from "../../db/codec/unreadable.ts";
import type { Instrument } from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import { candlesFromColumns } from "./candle_columns.ts";
import { monthEnd, type Timeframe } from "../timeframes.ts";

/** The bytes of a chunk differ from the stored ones. */
export class DamagedChunkError extends Error {
  override readonly name = "DamagedChunkError";
  constructor(readonly chunk: ChunkSummary, cause?: unknown) {
    super(`Cannot trust the stored ${chunk.timeframe} candles of ${chunk.month}: their checksum differs`, { cause });
  }
}

/** A damaged chunk whose candles no provider has; the message names them and the remedy. */
export class LostCandlesError extends Error {
  override readonly name = "LostCandlesError";
  constructor(
    { symbol, exchange, provider }: Instrument,
    { timeframe, month }: ChunkSummary,
    cause: DamagedChunkError,
  ) {
    const range = `from ${month} to ${new Date(monthEnd(month)).toISOString().slice(0, 10)}`;
    const remedy = provider === "sample" ? "an ingestion run with these dates makes them again" : "import them again";
    super(
      `Cannot read the ${timeframe} candles of ${symbol} on ${exchange} ${range}: they are damaged; ${remedy}`,
      { cause },
    );
  }
}

/** A month of a series in its stored form, with a checksum. */
export function makeChunk(
  series: { instrumentId: string; timeframe: Timeframe },
  month: string,
  candles: Candles,
): NewChunk {
  const { time } = candles;
  const data = encodeColumns({ ...candles });
  return {
    ...series,
    month,
    candles: time.length,
    firstTime: new Date(time[0]!),
    lastTime: new Date(time[time.length - 1]!),
    sha256: checksum(data),
    data,
  };
}

/**
 * The candles of a stored chunk.
 *
 * @throws {DamagedChunkError} When its bytes do not match its checksum.
 * @throws {UnreadableRecord} When they do and still cannot be read: a newer build wrote them, and they must not be replaced.
 */
export function openChunk({ data, ...summary }: ChunkRow): Candles {
  if (checksum(data) !== summary.sha256) throw new DamagedChunkError(summary);
  const { instrumentId, timeframe, month } = summary;
  const name = `${timeframe} candles of ${month} of the instrument ${instrumentId}`;
  return readRecord(name, () => candlesFromColumns(decodeColumns(data)));
}

function checksum(data: Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** True if a stored chunk cannot be read. */
export function isDamaged(row: ChunkRow): boolean {
  try {
    openChunk(row);
    return false;
  } catch (error) {
    if (error instanceof DamagedChunkError) return true;
    throw error;
  }
}
