/** The trades and orders of a chunk, read back from its bytes (see result_parts.ts). */
import { zstdDecompressSync } from "node:zlib";
import { decodeColumns } from "./columns.ts";
import { unpackTrades } from "./packed_trades.ts";

/** A chunk as it is stored. */
export interface StoredRows {
  readonly data: Uint8Array;
  /** The columns that it shares with other results. */
  readonly candles: Uint8Array | null;
  readonly tags: Uint8Array | null;
}

/** Rows of a chunk. */
export interface ResultRows {
  readonly count: number;
  readonly columns: Readonly<Record<string, Float64Array>>;
  /** A tag for each row, or two: the second ones follow. */
  readonly tags: readonly (string | null)[] | null;
}

/** Rows of a chunk, from one up to, not including, another. */
export interface RowRange {
  readonly from: number;
  readonly until: number;
}

/** @throws {Error} When the bytes are damaged, or of a newer build. */
export function decodeRows({ data, candles, tags }: StoredRows): ResultRows {
  const columns = { ...decodeColumns(data), ...(candles === null ? {} : decodeColumns(candles)) };
  const count = Object.values(columns)[0]?.length ?? 0;
  return { count, columns, tags: tags === null ? null : JSON.parse(zstdDecompressSync(tags).toString()) };
}

/** Some rows of a chunk with their packed columns unpacked, in memory of their own. */
export function cutRows({ count, columns, tags }: ResultRows, { from, until }: RowRange): ResultRows {
  const end = Math.max(from, Math.min(until, count));
  const cut = Object.entries(columns).map(([name, values]) => [name, values.slice(from, end)] as const);
  const ownTags = tags === null ? null : [0, count].flatMap((half) => tags.slice(half + from, half + end));
  return { count: end - from, columns: unpackTrades(Object.fromEntries(cut)), tags: ownTags };
}
