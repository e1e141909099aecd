/** The chunks of results in the database (see codec/result_parts.ts). */
import { and, asc, between, eq, gte, inArray, min } from "drizzle-orm";
import { Buffer } from "node:buffer";
import { setTimeout as pause } from "node:timers/promises";
import type { Db } from "./database.ts";
import {
  encodeChunks,
  measureChunks,
  type PartColumns,
  type RESULT_PARTS,
  type ResultChunk,
  type SharedCandles,
} from "./codec/result_parts.ts";
import { readRecord } from "./codec/unreadable.ts";
import { decodeRows } from "./codec/result_rows.ts";
import { settleTogether } from "./faults.ts";
import { insertResultCandles } from "./result_candles.ts";
import { fetchChunk, mapSome, placeChunks } from "./stored_bytes.ts";
import { queryText } from "./postgres_session.ts";
import { inUnit } from "./unit_of_work.ts";
import { backtests, resultCandles, resultChunks } from "./schema.ts";

// The column's type is integer.
export const CHUNK_NUMBER_MAX = 2 ** 31 - 1;
// The embedded database does nothing else during a statement: about 15 ms for this many bytes.
const STATEMENT_BYTES_MAX = 1 << 19;
// Encoding and decoding share their thread with the answers to requests.
const SLICE_MS = 8;

export type ResultPart = (typeof RESULT_PARTS)[number];

/** A chunk that was read back; `chunk` is the number of chunks before it. */
export interface ChunkRows {
  readonly chunk: number;
  /** The columns as they were packed. */
  readonly columns: Readonly<Record<string, Float64Array>>;
  /** A tag for each row, or two: the second ones follow. */
  readonly tags: readonly (string | null)[] | null;
}

/** Encodes the parts of a result; requests are answered in between. */
export function encodeParts(parts: readonly PartColumns[]): Promise<ResultChunk[]> {
  return collectInSlices(encodeChunks(parts));
}

/** Collects values that take time to make, a slice of time after the other: requests are answered in between. */
export async function collectInSlices<T>(values: Iterable<T>): Promise<T[]> {
  const collected: T[] = [];
  let sliceBegan = performance.now();
  for (const value of values) {
    collected.push(value);
    if (performance.now() - sliceBegan < SLICE_MS) continue;
    await pause(0);
    sliceBegan = performance.now();
  }
  return collected;
}

interface AttemptChunks {
  readonly backtestId: string;
  readonly attempt: number;
  readonly chunks: readonly ResultChunk[];
}

/**
 * Writes the chunks of one or many runs, in statements of bounded size.
 *
 * @param storedCandles SHA-256 of candles that are stored already.
 * @throws The database's error for a foreign key where such candles are not stored any more.
 */
export async function insertChunks(
  tx: Db,
  runs: readonly AttemptChunks[],
  storedCandles: ReadonlySet<string> = new Set(),
): Promise<void> {
  const insertAll = async () => {
    for (const rows of groupBySize(runs)) await insertRows(tx, rows);
  };
  // Sent in this order, they share a round trip.
  const candles = candlesOf(runs.flatMap(({ chunks }) => chunks), storedCandles);
  await settleTogether([insertResultCandles(tx, candles), insertAll()]);
}

export function candlesOf(chunks: readonly ResultChunk[], stored: ReadonlySet<string>): SharedCandles[] {
  return chunks.flatMap(({ candles }) => candles && !stored.has(candles.sha256) ? [candles] : []);
}

/**
 * Writes a running attempt's chunks before its record is completed, each group of them in a transaction of its own: others use the
 * database in between. Until the record is completed by this attempt, nobody reads them. Those that are there already stay.
 *
 * @returns True if the attempt held its record to the end.
 */
export async function insertChunksAhead(db: Db, run: AttemptChunks): Promise<boolean> {
  for (const group of groupBySize([run])) {
    const rows = await placeChunks(db, group);
    const isHeld = await inUnit(db, async (unit) => {
      const { tx } = unit;
      // A claim by another worker waits for this, so that no chunk of an earlier attempt comes after it.
      const held = await tx.select({ id: backtests.id }).from(backtests)
        .where(and(
          eq(backtests.id, run.backtestId),
          eq(backtests.attempts, run.attempt),
          eq(backtests.status, "running"),
        ))
        .for("share");
      if (held.length === 0) return false;
      const candles = insertResultCandles(tx, candlesOf(rows, new Set()));
      await unit.last(settleTogether([candles, insertRows(tx, rows, INSERT_MISSING)]));
      return true;
    });
    if (!isHeld) return false;
    // The embedded database answers without leaving the thread to anything else.
    await pause(0);
  }
  return true;
}

async function insertRows(tx: Db, rows: readonly PlacedChunk[], statement = INSERT): Promise<void> {
  await queryText(tx, statement, packRows(rows));
}

/**
 * The parameters of insertingRows(). The bytes of all rows are one parameter, one after the other: inside the JSON, the server would
 * spend twice the time on them.
 */
export function packRows(rows: readonly PlacedChunk[]): readonly [bytes: Uint8Array, places: string] {
  const sent = rows.filter(({ place }) => place === undefined);
  const bytes = Buffer.concat(sent.flatMap(({ data, tags }) => tags ? [data, tags] : [data]));
  // Positions in SQL begin at 1.
  let next = 1;
  const places = rows.map(({ data, tags, candles, place, ...row }) => {
    const [dataBytes, tagsBytes] = [data.byteLength, tags?.byteLength ?? null];
    const { object, at } = place ?? { object: null, at: next };
    if (object === null) next += dataBytes + (tagsBytes ?? 0);
    return { ...row, candles: candles?.sha256 ?? null, object, at, dataBytes, tagsBytes };
  });
  return [bytes, JSON.stringify(places)];
}

/**
 * A statement that inserts packRows(). Its text is the same for any number of rows, so that it is prepared once.
 *
 * @param bytes The name of the first parameter, as in `$1`; `places`: that of the second.
 * @param join Leaves out rows, of the table `places`.
 */
export function insertingRows(bytes: string, places: string, join = ""): string {
  return `insert into result_chunks
    (backtest_id, attempt, part, chunk, rows, first_time, last_time, data, tags, candles, object, object_place)
  select "backtestId", places.attempt, part, chunk, rows, "firstTime", "lastTime",
    case when object is null then substring(bytes, at, "dataBytes") else '' end,
    case when object is null then substring(bytes, at + "dataBytes", "tagsBytes") end, candles,
    object, case when object is not null then array[at, "dataBytes", "tagsBytes"] end
  from (select ${bytes}::bytea as bytes) as given, json_to_recordset(${places}::json) as places(
    "backtestId" uuid, attempt smallint, part text, chunk integer, rows integer,
    "firstTime" timestamptz, "lastTime" timestamptz, at integer, "dataBytes" integer, "tagsBytes" integer, candles text,
    object text
  ) ${join}`;
}

const INSERT = insertingRows("$1", "$2");
const INSERT_MISSING = `${INSERT} on conflict do nothing`;

type PlacedChunk = ResultChunk & Pick<typeof resultChunks.$inferInsert, "backtestId" | "attempt">;

function* groupBySize(runs: readonly AttemptChunks[]): Generator<PlacedChunk[]> {
  let rows: PlacedChunk[] = [];
  let bytes = 0;
  for (const { backtestId, attempt, chunks } of runs) {
    for (const chunk of chunks) {
      const chunkBytes = measureChunks([chunk]);
      if (rows.length > 0 && bytes + chunkBytes > STATEMENT_BYTES_MAX) {
        yield rows;
        rows = [];
        bytes = 0;
      }
      rows.push({ backtestId, attempt, ...chunk });
      bytes += chunkBytes;
    }
  }
  if (rows.length > 0) yield rows;
}

/** Removes the chunks of attempts other than those that have ended these records. */
export async function deleteChunksOfOthers(tx: Db, runs: readonly { id: string; attempt: number }[]): Promise<void> {
  // The first attempt has no others.
  const later = runs.filter((run) => run.attempt > 1);
  await settleTogether(later.map(({ id, attempt }) => queryText(tx, DELETE_OTHERS, [id, attempt])));
}

const DELETE_OTHERS = `
  delete from result_chunks using backtests where backtest_id = $1 and attempt <> $2
    and id = backtest_id and attempts = $2 and status in ('completed', 'failed')`;

/** Removes the chunks of a record that ended without a result. */
export async function deleteChunks(tx: Db, backtestId: string): Promise<void> {
  await tx.delete(resultChunks).where(eq(resultChunks.backtestId, backtestId));
}

/**
 * One part of the result of one user's backtest, oldest first; nothing where this user has no backtest of that id with a result.
 *
 * @param range Numbers of the first and the last chunk to read.
 * @throws {UnreadableRecord} When the stored bytes are damaged, or of a newer build.
 */
export async function readChunks(
  db: Db,
  { backtestId, ownerId, part }: { readonly backtestId: string; readonly ownerId: string; readonly part: ResultPart },
  { first, last }: { readonly first: number; readonly last: number } = { first: 0, last: CHUNK_NUMBER_MAX },
): Promise<ChunkRows[]> {
  const { chunk } = resultChunks;
  const record = `${part} of the backtest ${backtestId}`;
  const rows = await db.select({ chunk, ...CHUNK_BYTES })
    .from(resultChunks)
    .innerJoin(backtests, ofResult(ownerId, part))
    .leftJoin(resultCandles, eq(resultCandles.sha256, resultChunks.candles))
    .where(and(eq(resultChunks.backtestId, backtestId), eq(resultChunks.part, part), between(chunk, first, last)))
    .orderBy(asc(chunk));
  const stored = await mapSome(rows, async (row) => ({ chunk: row.chunk, bytes: await fetchChunk(db, record, row) }));
  return await collectInSlices(
    stored.values().map(({ chunk, bytes }) => readRecord(record, () => ({ chunk, ...decodeRows(bytes) }))),
  );
}

/** The columns from which fetchChunk() makes the bytes of a chunk; `candles` is joined. */
export const CHUNK_BYTES = {
  data: resultChunks.data,
  tags: resultChunks.tags,
  object: resultChunks.object,
  objectPlace: resultChunks.objectPlace,
  candles: resultCandles,
} as const;

/** The number of the first chunk with a row at a time or later; null where there is none. */
export async function findChunk(
  db: Db,
  { backtestId, ownerId, part }: { readonly backtestId: string; readonly ownerId: string; readonly part: ResultPart },
  since: Date,
): Promise<number | null> {
  const { chunk, lastTime } = resultChunks;
  const [row] = await db.select({ first: min(chunk) }).from(resultChunks).innerJoin(backtests, ofResult(ownerId, part))
    .where(and(eq(resultChunks.backtestId, backtestId), eq(resultChunks.part, part), gte(lastTime, since)));
  return row?.first ?? null;
}

/** Joins the record whose result a chunk belongs to, if it is this user's. A run that failed has plots and nothing else. */
export function ofResult(ownerId: string, part: ResultPart) {
  const statuses = part === "plots" ? ["completed", "failed"] as const : ["completed"] as const;
  return and(
    eq(backtests.id, resultChunks.backtestId),
    eq(backtests.attempts, resultChunks.attempt),
    inArray(backtests.status, [...statuses]),
    eq(backtests.ownerId, ownerId),
  );
}
