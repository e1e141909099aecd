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

/** Rows of a chunk at some places, in their order. */
export interface RowPlaces {
  readonly places: readonly number[];
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

/** The rows at some places, as cutRows() cuts them. @throws {Error} Where the chunk has none at a place. */
export function pickRows({ count, columns, tags }: ResultRows, { places }: RowPlaces): ResultRows {
  const beyond = places.find((place) => place >= count);
  if (beyond !== undefined) throw new Error(`it has ${count} rows, and no row ${beyond}`);
  const picked = Object.entries(columns).map(([name, values]) =>
    [name, Float64Array.from(places, (place) => values[place]!)] as const
  );
  const ownTags = tags === null
    ? null
    : (tags.length > count ? [0, count] : [0]).flatMap((half) => places.map((place) => tags[half + place] ?? null));
  return { count: places.length, columns: unpackTrades(Object.fromEntries(picked)), tags: ownTags };
}
