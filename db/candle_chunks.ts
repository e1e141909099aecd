import { and, asc, eq, getTableColumns, inArray, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { Db } from "./client.ts";
import { queryBytes } from "./postgres_session.ts";
import { prepareOnce } from "./prepare_once.ts";
import { candleChunks } from "./schema.ts";

export type ChunkRow = typeof candleChunks.$inferSelect;
export type NewChunk = typeof candleChunks.$inferInsert;
/** A chunk without its candles. */
export type ChunkSummary = Omit<ChunkRow, "data">;

const { data: _data, ...summaryColumns } = getTableColumns(candleChunks);

/** An instrument's chunks without their candles, by timeframe name and month. */
export async function listChunks(db: Db, instrumentId: string): Promise<ChunkSummary[]> {
  return await selectSummaries(db, { instrumentId });
}

const selectSummaries = prepareOnce((db) =>
  db.select(summaryColumns).from(candleChunks)
    .where(eq(candleChunks.instrumentId, sql.placeholder("instrumentId")))
    .orderBy(asc(candleChunks.timeframe), asc(candleChunks.month))
);

/** True if the archive has candles of an instrument. */
export async function hasChunks(db: Db, instrumentId: string): Promise<boolean> {
  const rows = await db.select({ month: candleChunks.month }).from(candleChunks)
    .where(eq(candleChunks.instrumentId, instrumentId)).limit(1);
  return rows.length > 0;
}

/** Chunks with their candles, by month. */
export async function readChunks(
  db: Db,
  key: { instrumentId: string; timeframe: string; months: readonly string[] },
): Promise<ChunkRow[]> {
  if (key.months.length === 0) return [];
  const { instrumentId, timeframe, month, candles, firstTime, lastTime, sha256, data, updatedAt } = candleChunks;
  const milliseconds = (moment: PgColumn) => sql`extract(epoch from ${moment}) * 1000`;
  const summary = sql`json_build_array(${month}, ${candles}, ${milliseconds(firstTime)}, ${milliseconds(lastTime)},
    ${sha256}, ${milliseconds(updatedAt)})::text`;
  const rows = await queryBytes(
    db,
    db.select({ summary: summary.as("summary"), data }).from(candleChunks)
      .where(and(
        eq(instrumentId, key.instrumentId),
        eq(timeframe, key.timeframe),
        inArray(month, [...key.months]),
      ))
      .orderBy(asc(month)),
  );
  return rows.map(([summary, data]) => toChunk(key, summary ?? NOTHING, data ?? NOTHING));
}

const NOTHING = new Uint8Array(0);

function toChunk(
  { instrumentId, timeframe }: { readonly instrumentId: string; readonly timeframe: string },
  summary: Uint8Array,
  data: Uint8Array,
): ChunkRow {
  const [month, candles, first, last, sha256, updated]: [string, number, number, number, string, number] = JSON.parse(
    new TextDecoder().decode(summary),
  );
  const [firstTime, lastTime, updatedAt] = [new Date(first), new Date(last), new Date(updated)];
  return { instrumentId, timeframe, month, candles, firstTime, lastTime, sha256, data, updatedAt };
}

/** Writes chunks in one statement; each replaces the chunk of its month. */
export async function writeChunks(tx: Db, chunks: readonly NewChunk[]): Promise<void> {
  if (chunks.length === 0) return;
  await tx.insert(candleChunks).values([...chunks]).onConflictDoUpdate({
    target: [candleChunks.instrumentId, candleChunks.timeframe, candleChunks.month],
    set: {
      candles: sql`excluded.candles`,
      firstTime: sql`excluded.first_time`,
      lastTime: sql`excluded.last_time`,
      sha256: sql`excluded.sha256`,
      data: sql`excluded.data`,
      updatedAt: sql`now()`,
    },
  });
}

/** Removes a chunk, unless it has changed since it was read. @returns True if it was removed. */
export async function deleteChunk(tx: Db, chunk: ChunkSummary): Promise<boolean> {
  const removed = await tx.delete(candleChunks).where(and(
    eq(candleChunks.instrumentId, chunk.instrumentId),
    eq(candleChunks.timeframe, chunk.timeframe),
    eq(candleChunks.month, chunk.month),
    eq(candleChunks.updatedAt, chunk.updatedAt),
  )).returning({ month: candleChunks.month });
  return removed.length > 0;
}
