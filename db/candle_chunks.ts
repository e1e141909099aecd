import { and, asc, eq, getTableColumns, inArray, or, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Db } from "./client.ts";
import { type BytesPlace, fetchBytes, mapSome, NOTHING, placeBytes } from "./stored_bytes.ts";
import { queryBytes } from "./postgres_session.ts";
import { prepareOnce } from "./prepare_once.ts";
import { candleChunks, instruments } from "./schema.ts";

export type ChunkRow = Omit<typeof candleChunks.$inferSelect, "object">;
export type NewChunk = Omit<typeof candleChunks.$inferInsert, "object">;
/** A chunk without its candles. */
export type ChunkSummary = Omit<ChunkRow, "data">;

const { data: _data, object: _object, ...summaryColumns } = getTableColumns(candleChunks);

/** An instrument's chunks without their candles, by timeframe name and month. */
export async function listChunks(db: Db, instrumentId: string): Promise<ChunkSummary[]> {
  return await selectSummaries(db, { instrumentId });
}

const selectSummaries = prepareOnce((db) =>
  db.select(summaryColumns).from(candleChunks)
    .where(eq(candleChunks.instrumentId, sql.placeholder("instrumentId")))
    .orderBy(asc(candleChunks.timeframe), asc(candleChunks.month))
);

/** Like listChunks, of many instruments in one statement. @returns A list an instrument, in the order of the ids. */
export async function listChunksOfMany(db: Db, instrumentIds: readonly string[]): Promise<ChunkSummary[][]> {
  const rows = await db.select(summaryColumns).from(candleChunks)
    .where(inArray(candleChunks.instrumentId, [...instrumentIds]))
    .orderBy(asc(candleChunks.timeframe), asc(candleChunks.month));
  const lists = Map.groupBy(rows, (row) => row.instrumentId);
  return instrumentIds.map((id) => lists.get(id) ?? []);
}

/**
 * A version an instrument of all that listChunks tells, which has a row a month: equal versions, equal chunks.
 *
 * @returns In the order of the ids; -1 for an instrument that is gone.
 */
export async function readChunkVersions(db: Db, instrumentIds: readonly string[]): Promise<number[]> {
  const rows = await selectVersions(db, { ids: instrumentIds });
  const versions = new Map(rows.map((row) => [row.id, row.chunksVersion]));
  return instrumentIds.map((id) => versions.get(id) ?? -1);
}

const selectVersions = prepareOnce((db) =>
  db.select({ id: instruments.id, chunksVersion: instruments.chunksVersion }).from(instruments)
    .where(sql`${instruments.id} = any(${sql.placeholder("ids")}::uuid[])`)
);

/** True if the archive has candles of an instrument. */
export async function hasChunks(db: Db, instrumentId: string): Promise<boolean> {
  const rows = await db.select({ month: candleChunks.month }).from(candleChunks)
    .where(eq(candleChunks.instrumentId, instrumentId)).limit(1);
  return rows.length > 0;
}

/** Some months of a series. */
export interface ChunksKey {
  readonly instrumentId: string;
  readonly timeframe: string;
  /** The first days of months, ascending. */
  readonly months: readonly string[];
}

/** Chunks with their candles, by month. */
export async function readChunks(db: Db, key: ChunksKey): Promise<ChunkRow[]> {
  const [rows = []] = await readChunksOfMany(db, [key]);
  return rows;
}

/** Like readChunks, of many series in one statement. @returns A list a key, in the order of the keys. */
export async function readChunksOfMany(db: Db, keys: readonly ChunksKey[]): Promise<ChunkRow[][]> {
  const wanted = keys.filter(({ months }) => months.length > 0);
  if (wanted.length === 0) return keys.map(() => []);
  const { instrumentId, timeframe, month, candles, firstTime, lastTime, sha256, data, object, updatedAt } =
    candleChunks;
  const milliseconds = (moment: PgColumn) => sql`extract(epoch from ${moment}) * 1000`;
  const summary = sql`json_build_array(${instrumentId}, ${timeframe}, ${month}, ${candles}, ${milliseconds(firstTime)},
    ${milliseconds(lastTime)}, ${sha256}, ${milliseconds(updatedAt)}, ${object})::text`;
  // Series of a portfolio have the same months, which are named once.
  const stretches = Map.groupBy(wanted, (key) => JSON.stringify([key.timeframe, key.months]));
  const conditions = [...stretches.values()].map((group) => {
    const { timeframe: name, months } = group[0]!;
    const ids = [...new Set(group.map((key) => key.instrumentId))];
    return and(inArray(instrumentId, ids), eq(timeframe, name), inArray(month, [...months]));
  });
  const rows = await queryBytes(
    db,
    db.select({ summary: summary.as("summary"), data }).from(candleChunks).where(or(...conditions)).orderBy(asc(month)),
  );
  const chunks = await mapSome(rows, async ([summary, data]) => {
    const { object, ...chunk } = toChunk(summary ?? NOTHING, data ?? NOTHING);
    const record = `${chunk.timeframe} candles of ${chunk.month} of the instrument ${chunk.instrumentId}`;
    return { ...chunk, data: await fetchBytes(db, record, { data: chunk.data, object }) };
  });
  const series = Map.groupBy(chunks, seriesOf);
  return keys.map((key) => {
    const months = new Set(key.months);
    return (series.get(seriesOf(key)) ?? []).filter((chunk) => months.has(chunk.month));
  });
}

function seriesOf({ instrumentId, timeframe }: Omit<ChunksKey, "months">): string {
  return JSON.stringify([instrumentId, timeframe]);
}

type Summary = [string, string, string, number, number, number, string, number, string | null];

function toChunk(summary: Uint8Array, data: Uint8Array): ChunkRow & BytesPlace {
  const [instrumentId, timeframe, month, candles, first, last, sha256, updated, object]: Summary = JSON.parse(
    new TextDecoder().decode(summary),
  );
  const [firstTime, lastTime, updatedAt] = [new Date(first), new Date(last), new Date(updated)];
  return { instrumentId, timeframe, month, candles, firstTime, lastTime, sha256, data, updatedAt, object };
}

/** Writes chunks in one statement; each replaces the chunk of its month. */
export async function writeChunks(tx: Db, chunks: readonly NewChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  const rows = (await placeBytes(tx, chunks)).map((chunk) => {
    // As hexadecimal digits the bytes would take a tenth of an import's processor time.
    return { ...chunk, data: sql`decode(${chunk.data.toBase64()}, 'base64')` };
  });
  await tx.insert(candleChunks).values(rows).onConflictDoUpdate({
    target: [candleChunks.instrumentId, candleChunks.timeframe, candleChunks.month],
    set: {
      candles: sql`excluded.candles`,
      firstTime: sql`excluded.first_time`,
      lastTime: sql`excluded.last_time`,
      sha256: sql`excluded.sha256`,
      data: sql`excluded.data`,
      object: sql`excluded.object`,
      updatedAt: sql`now()`,
    },
  });
}

/** Removes a chunk, unless it has changed since it was read. The caller holds lockInstrument(). @returns True if it was removed. */
export async function deleteChunk(tx: Db, chunk: ChunkSummary): Promise<boolean> {
  const removed = await tx.delete(candleChunks).where(and(
    eq(candleChunks.instrumentId, chunk.instrumentId),
    eq(candleChunks.timeframe, chunk.timeframe),
    eq(candleChunks.month, chunk.month),
    eq(candleChunks.updatedAt, chunk.updatedAt),
  )).returning({ month: candleChunks.month });
  return removed.length > 0;
}
