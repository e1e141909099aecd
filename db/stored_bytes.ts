/** Bytes of rows on their way to the object store and back; without a store, the rows keep them. */
import { Buffer } from "node:buffer";
import { measureChunks, type ResultChunk, type SharedCandles } from "./codec/result_parts.ts";
import type { StoredRows } from "./codec/result_rows.ts";
import { UnreadableRecord } from "./codec/unreadable.ts";
import type { Db } from "./database.ts";
import { objectStoreOf } from "./postgres_session.ts";
import { LostObject } from "./objects/object_store.ts";

// Requests to the store that one caller has under way.
const TOGETHER = 8;
// An object is read as a whole.
const OBJECT_BYTES_MAX = 1 << 19;
export const NOTHING: Uint8Array = new Uint8Array(0);

/** Where the bytes of a row are: its own, or those of an object. */
export interface BytesPlace {
  readonly data: Uint8Array;
  readonly object: string | null;
}

/**
 * The bytes of a row.
 *
 * @param record The row's record, as readRecord() names it.
 * @throws {UnreadableRecord} When the object is lost or damaged, or this process has no store.
 * @throws {ObjectStoreError} When the store does not answer.
 */
export async function fetchBytes(db: Db, record: string, { data, object }: BytesPlace): Promise<Uint8Array> {
  // A process of an older version replaces the data of a row, and knows no objects.
  if (object === null || data.byteLength > 0) return data;
  const store = objectStoreOf(db);
  if (store === undefined) throw new UnreadableRecord(record, new Error(`the object ${object} needs S3_ENDPOINT`));
  try {
    return await store.get(object);
  } catch (error) {
    throw error instanceof LostObject ? new UnreadableRecord(record, error) : error;
  }
}

/** Works on many values, some of them at a time. @returns In the order of the values. */
export async function mapSome<Value, Result>(
  values: readonly Value[],
  work: (value: Value) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < values.length; at += TOGETHER) {
    results.push(...await Promise.all(values.slice(at, at + TOGETHER).map(work)));
  }
  return results;
}

/** Rows with their bytes brought to the store, if it takes new ones: what is left of them names the objects. */
export async function placeBytes<Row extends { readonly data: Uint8Array }>(
  db: Db,
  rows: readonly Row[],
): Promise<(Row & BytesPlace)[]> {
  const store = objectStoreOf(db);
  if (!store?.takesNew) return rows.map((row) => ({ ...row, object: null }));
  return await mapSome(rows, async (row) => ({ ...row, data: NOTHING, object: await store.put(row.data) }));
}

/** A chunk of a result as it is selected. */
export interface StoredChunk extends Omit<StoredRows, "candles"> {
  readonly object: string | null;
  readonly objectPlace: readonly number[] | null;
  readonly candles: BytesPlace | null;
}

/** The bytes of a chunk of a result. @throws {Error} As fetchBytes(). */
export async function fetchChunk(db: Db, record: string, chunk: StoredChunk): Promise<StoredRows> {
  const { object, objectPlace, data, tags } = chunk;
  const candles = chunk.candles && await fetchBytes(db, record, chunk.candles);
  if (object === null || objectPlace === null) return { data, tags, candles };
  const bytes = await fetchBytes(db, record, { data: NOTHING, object });
  const [at = 1, length = 0, tagsLength = null] = objectPlace;
  const end = at - 1 + length;
  return {
    data: bytes.slice(at - 1, end),
    tags: tagsLength === null ? null : bytes.slice(end, end + tagsLength),
    candles,
  };
}

/**
 * Brings the bytes of a result to the store, if it takes new ones: several chunks share an object. They keep their bytes, by whose number they
 * are counted.
 *
 * @param stored SHA-256 of candles that are stored already.
 */
export async function placeChunks<Chunk extends ResultChunk>(
  db: Db,
  chunks: readonly Chunk[],
  stored: ReadonlySet<string> = new Set(),
): Promise<readonly Chunk[]> {
  const store = objectStoreOf(db);
  if (!store?.takesNew) return chunks;
  const placed = await mapSome([...groupBySize(chunks)], async (group) => {
    const object = await store.put(Buffer.concat(group.flatMap(({ data, tags }) => tags ? [data, tags] : [data])));
    let at = 1;
    return group.map((chunk) => {
      const one = { ...chunk, place: { object, at } };
      at += chunk.data.byteLength + (chunk.tags?.byteLength ?? 0);
      return one;
    });
  });
  return await mapSome(placed.flat(), async (chunk) => {
    const { candles } = chunk;
    if (!candles || candles.object || stored.has(candles.sha256)) return chunk;
    return { ...chunk, candles: { ...candles, object: await store.put(candles.data) } satisfies SharedCandles };
  });
}

/** Chunks of one result in groups that fit into an object; a larger one stands alone. */
export function* groupBySize<Chunk extends Parameters<typeof measureChunks>[0][number]>(
  chunks: readonly Chunk[],
): Generator<Chunk[]> {
  let group: Chunk[] = [];
  for (const chunk of chunks) {
    if (group.length > 0 && measureChunks([...group, chunk]) > OBJECT_BYTES_MAX) {
      yield group;
      group = [];
    }
    group.push(chunk);
  }
  if (group.length > 0) yield group;
}
