import type { Candles } from "../../engine/candles.ts";
import { createHash } from "node:crypto";

/** The columns of candles, in the order of storage and of hashing. */
export const CANDLE_COLUMNS = ["time", "open", "high", "low", "close", "volume"] as const satisfies readonly (
  keyof Candles
)[];

/** Columns of zeros, to fill. @param shared Whether they share one SharedArrayBuffer, which a Web Worker takes without a copy. */
export function allocateCandles(length: number, shared = false): Candles {
  const bytes = length * Float64Array.BYTES_PER_ELEMENT;
  const total = bytes * CANDLE_COLUMNS.length;
  const buffer = shared ? new SharedArrayBuffer(total) : new ArrayBuffer(total);
  return mapColumns((_, index) => new Float64Array(buffer, index * bytes, length));
}

/** Candles `from` to before `until`, as views of the same memory. */
export function sliceCandles(candles: Candles, from: number, until = candles.time.length): Candles {
  if (from === 0 && until === candles.time.length) return candles;
  return mapColumns((name) => candles[name].subarray(from, until));
}

/** Copies candles into `target`, beginning at row `at`. */
export function copyCandles(source: Candles, target: Candles, at: number): void {
  for (const name of CANDLE_COLUMNS) target[name].set(source[name], at);
}

/** Joins candles, one part after the other. */
export function concatCandles(parts: readonly Candles[]): Candles {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only !== undefined) return only;
  const joined = allocateCandles(parts.reduce((sum, part) => sum + part.time.length, 0));
  let at = 0;
  for (const part of parts) {
    copyCandles(part, joined, at);
    at += part.time.length;
  }
  return joined;
}

/** Candles from decoded columns. @throws {Error} When a column is missing. */
export function candlesFromColumns(columns: Readonly<Record<string, Float64Array>>): Candles {
  return mapColumns((name) => {
    const column = columns[name];
    if (column === undefined) throw new Error(`Cannot read candles without the column ${name}`);
    return column;
  });
}

/** The index of the first candle that opens at `timeMs` or later. */
export function lowerBound(time: Float64Array, timeMs: number): number {
  let low = 0;
  let high = time.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (time[middle]! < timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** SHA-256 of the columns' bytes one after another (little-endian doubles), hexadecimal: equal candles have equal hashes. */
export function hashCandles(candles: Candles): string {
  const hash = createHash("sha256");
  for (const name of CANDLE_COLUMNS) {
    const column = candles[name];
    hash.update(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
  }
  return hash.digest("hex");
}

function mapColumns(make: (name: keyof Candles, index: number) => Float64Array): Candles {
  return {
    time: make("time", 0),
    open: make("open", 1),
    high: make("high", 2),
    low: make("low", 3),
    close: make("close", 4),
    volume: make("volume", 5),
  };
}
