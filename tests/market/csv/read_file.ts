import type { Traded } from "../../../market/calendar/exchange_sessions.ts";
import { CsvReader } from "../../../market/csv/reader.ts";
import type { Timeframe } from "../../../market/timeframes.ts";

const now = Date.parse("2024-06-01T00:00:00Z");

/** Reads a file that arrives in pieces of some size. */
export function read(
  file: string | Uint8Array,
  timeframe: Timeframe | null = "1d",
  pieceBytes = Infinity,
  instrument: Traded = { assetClass: "crypto", exchange: "X" },
) {
  const bytes = typeof file === "string" ? new TextEncoder().encode(file) : file;
  const reader = new CsvReader(timeframe, now, instrument);
  const rows: number[][] = [];
  const batches: number[] = [];
  const keep = (candles: Iterable<{ time: Float64Array; close: Float64Array; volume: Float64Array }>) => {
    for (const { time, close, volume } of candles) {
      batches.push(time.length);
      time.forEach((each, i) => rows.push([each, close[i]!, volume[i]!]));
    }
  };
  for (let at = 0; at < bytes.length; at += pieceBytes) keep(reader.push(bytes.subarray(at, at + pieceBytes)));
  keep(reader.end());
  const times = rows.map(([time]) => new Date(time!).toISOString().slice(0, 10));
  return {
    rows,
    times,
    batches,
    rejected: reader.rejected,
    rejectedCount: reader.rejectedCount,
    convention: reader.convention,
    zoneHint: reader.zoneHint,
    timeframe: reader.timeframe,
  };
}

export const HEADER = "date,open,high,low,close,volume\n";

/** A file of one candle at each time. */
export function lines(...times: readonly string[]): string {
  return HEADER + times.map((time) => `${time},1,1,1,1,1\n`).join("");
}

export const STOCK: Traded = { assetClass: "stock", exchange: "NYSE" };
export const FOREX: Traded = { assetClass: "forex", exchange: "OTC" };
