/** Pages of the rows of results: trades and orders. */
import { and, eq } from "drizzle-orm";
import { type Order, toOrder } from "./codec/order_rows.ts";
import { CHUNK_ROWS } from "./codec/result_parts.ts";
import {
  cutRows,
  decodeRows,
  pickRows,
  type ResultRows,
  type RowPlaces,
  type RowRange,
  type StoredRows,
} from "./codec/result_rows.ts";
import { toTrade, type Trade } from "./codec/trade_rows.ts";
import { readRecord } from "./codec/unreadable.ts";
import type { Db } from "./database.ts";
import { fetchChunk } from "./stored_bytes.ts";
import { CHUNK_BYTES, CHUNK_NUMBER_MAX, type ChunkRows, ofResult, type ResultPart } from "./result_chunks.ts";
import { backtests, resultCandles, resultChunks } from "./schema.ts";

/** Reads rows of a stored chunk; undefined where there is no such chunk. @throws {UnreadableRecord} */
export type CutChunk = (source: RowsSource, range: RowRange | RowPlaces) => Promise<ResultRows | undefined>;

/** A stored chunk whose bytes are read where they are needed. */
export interface RowsSource {
  /** The same for no other chunk. */
  readonly key: string;
  /** The record that the chunk belongs to, as readRecord() names it. */
  readonly record: string;
  read(): Promise<StoredRows | undefined>;
}

/** Decodes on this thread: a long list is read by another one. */
const cutHere: CutChunk = async ({ record, read }, range) => {
  const stored = await read();
  return stored && readRecord(record, () => {
    const rows = decodeRows(stored);
    return "places" in range ? pickRows(rows, range) : cutRows(rows, range);
  });
};

/** A page of the rows of one user's completed backtest; `after`: how many rows are known already; `limit`: rows at most. */
interface RowsPage extends Omit<RowsKey, "part"> {
  readonly after: number;
  readonly limit: number;
}

/** Orders in order of placement. @param cut Decodes the chunks; default: this thread. @throws {UnreadableRecord} */
export function listOrders(db: Db, page: RowsPage, cut?: CutChunk): Promise<Order[]> {
  return readPage(db, { ...page, part: "orders" }, toOrder, cut);
}

/** Trades, oldest first, as listOrders() lists orders. */
export function listTrades(db: Db, page: RowsPage, cut?: CutChunk): Promise<Trade[]> {
  return readPage(db, { ...page, part: "trades" }, toTrade, cut);
}

/**
 * Trades by their places in a run, from 0, in the order of `places`. Each chunk is read once.
 *
 * @returns Fewer where chunks are gone, since their backtest was deleted.
 * @throws {UnreadableRecord}
 */
export async function pickTrades(
  db: Db,
  run: Omit<RowsKey, "part">,
  places: Iterable<number>,
  cut: CutChunk = cutHere,
): Promise<Trade[]> {
  const key = { ...run, part: "trades" } as const;
  const wanted = Map.groupBy([...places].entries(), ([, place]) => Math.floor(place / CHUNK_ROWS));
  const found: Trade[] = [];
  for (const [chunk, entries] of wanted) {
    const begin = chunk * CHUNK_ROWS;
    const rows = await cut(findRow(db, key, begin).source, { places: entries.map(([, place]) => place - begin) });
    if (rows === undefined) return [];
    const { columns, tags, count } = rows;
    readRecord(nameOf(key), () => {
      entries.forEach(([at, place], i) => {
        found[at] = toTrade(columns, i, place + 1, tags?.[i] ?? null, tags?.[count + i] ?? null);
      });
    });
  }
  return found;
}

/**
 * One page of a part, row by row.
 *
 * @param toRow Makes a row of its place in the columns, its number from 1, and its tags.
 * @param cut Decodes the chunks.
 * @throws {UnreadableRecord}
 */
async function readPage<Row>(
  db: Db,
  page: RowsKey & RowsPage,
  toRow: (columns: ChunkRows["columns"], i: number, number: number, tag: string | null, exitTag: string | null) => Row,
  cut: CutChunk = cutHere,
): Promise<Row[]> {
  const { after, limit } = page;
  const record = nameOf(page);
  const found: Row[] = [];
  while (found.length < limit) {
    const first = after + found.length;
    const { source, from } = findRow(db, page, first);
    const rows = await cut(source, { from, until: from + limit - found.length });
    if (rows === undefined || rows.count === 0) break;
    const { columns, tags, count } = rows;
    readRecord(record, () => {
      for (let i = 0; i < count; i++) {
        found.push(toRow(columns, i, first + i + 1, tags?.[i] ?? null, tags?.[count + i] ?? null));
      }
    });
    if (from + count < CHUNK_ROWS) break;
  }
  return found;
}

interface RowsKey {
  readonly backtestId: string;
  readonly ownerId: string;
  readonly part: "trades" | "orders";
}

/** The chunk that a part's row lies in, and its place there. @param index From 0. */
export function findRow(db: Db, key: RowsKey, index: number): { readonly source: RowsSource; readonly from: number } {
  const chunk = Math.min(Math.floor(index / CHUNK_ROWS), CHUNK_NUMBER_MAX);
  const source = {
    key: `${key.backtestId} ${key.part} ${chunk}`,
    record: nameOf(key),
    read: () => readStoredRows(db, key, chunk),
  };
  return { source, from: index - chunk * CHUNK_ROWS };
}

function nameOf({ backtestId, part }: RowsKey): string {
  return `${part} of the backtest ${backtestId}`;
}

/** A chunk of one user's result as it is stored; undefined where there is none. */
export async function readStoredRows(
  db: Db,
  { backtestId, ownerId, part }: { readonly backtestId: string; readonly ownerId: string; readonly part: ResultPart },
  number: number,
): Promise<StoredRows | undefined> {
  const { chunk } = resultChunks;
  const [row] = await db.select(CHUNK_BYTES)
    .from(resultChunks)
    .innerJoin(backtests, ofResult(ownerId, part))
    .leftJoin(resultCandles, eq(resultCandles.sha256, resultChunks.candles))
    .where(and(eq(resultChunks.backtestId, backtestId), eq(resultChunks.part, part), eq(chunk, number)));
  return row && await fetchChunk(db, `${part} of the backtest ${backtestId}`, row);
}
