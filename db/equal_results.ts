/** Stored results of equal submissions. */
import { and, asc, eq, sql } from "drizzle-orm";
import type { CompletedRun } from "./backtests.ts";
import { readLog } from "./backtest_logs.ts";
import type { Db } from "./database.ts";
import type { ResultChunk, SharedCandles } from "./codec/result_parts.ts";
import { type BytesPlace, fetchChunk, mapSome, type StoredChunk } from "./stored_bytes.ts";
import { prepareOnce } from "./prepare_once.ts";
import { CHUNK_BYTES } from "./result_chunks.ts";
import { backtests, resultCandles, resultChunks } from "./schema.ts";
import { isStale } from "./stale_results.ts";

/** A submission of a user, and the key of its inputs. */
export interface WantedResult {
  readonly ownerId: string;
  readonly symbol: string;
  readonly exchange: string;
  /** See ResultInputs. */
  readonly key: string;
}

/** A stored result that an equal submission may get. */
export interface EqualResult {
  readonly id: string;
  readonly lookback: number;
  readonly runKey: string;
}

/** Of `wanted`, the JSON of an array with the place of each. */
const findOldest = prepareOnce((db) => {
  const { id, ownerId, symbol, exchange, result, inputs, status } = backtests;
  const equal = db.select({
    id: sql<string>`${id}`.as("id"),
    lookback: sql`(${inputs} ->> 'lookback')::int`.mapWith(Number).as("lookback"),
    runKey: sql<string>`${result} ->> 'run_key'`.as("run_key"),
  }).from(backtests).where(and(
    eq(ownerId, sql`wanted."ownerId"`),
    sql`${inputs} ->> 'key' = wanted.key and ${inputs} is not null`,
    eq(symbol, sql`wanted.symbol`),
    eq(exchange, sql`wanted.exchange`),
    eq(status, "completed"),
    sql`${result} -> 'integrity' -> 'determinism' ->> 'status' <> 'failed'`,
    sql`not ${isStale}`,
  )).orderBy(asc(id)).limit(1).as("equal");
  const place = sql`wanted.place`.mapWith(Number);
  return db.select({ place, id: equal.id, lookback: equal.lookback, runKey: equal.runKey })
    .from(
      sql`jsonb_to_recordset(${sql.placeholder("wanted")}::text::jsonb)
        as wanted(place int, "ownerId" text, symbol text, exchange text, key text)`,
    ).innerJoinLateral(equal, sql`true`);
});

/**
 * The oldest result of each of these submissions of the same user; none that is stale, or whose strategy decides differently each time.
 *
 * @returns In the order of the submissions; undefined for those without an equal one.
 */
export async function findEqualResults(
  db: Db,
  wanted: readonly WantedResult[],
): Promise<readonly (EqualResult | undefined)[]> {
  const rows = await findOldest(db, { wanted: JSON.stringify(wanted.map((one, place) => ({ ...one, place }))) });
  return wanted.map((_, place) => rows.find((row) => row.place === place));
}

/** The parts of a stored result that an equal one repeats. */
type StoredResult = Required<Pick<CompletedRun, "result" | "sparkline" | "plots" | "log" | "chunks">>;

/** A completed record's result as it is stored; null where the record is gone. */
export async function readStoredResult(db: Db, id: string): Promise<StoredResult | null> {
  const [row] = await db.select({
    result: backtests.result,
    sparkline: backtests.sparkline,
    plots: backtests.plots,
    attempt: backtests.attempts,
  }).from(backtests).where(and(eq(backtests.id, id), eq(backtests.status, "completed")));
  if (row === undefined || row.result === null) return null;
  const log = await readLog(db, id);
  const { part, chunk, rows, firstTime, lastTime } = resultChunks;
  const stored = await db.select({ part, chunk, rows, firstTime, lastTime, ...CHUNK_BYTES })
    .from(resultChunks).leftJoin(resultCandles, eq(resultCandles.sha256, resultChunks.candles))
    .where(and(eq(resultChunks.backtestId, id), eq(resultChunks.attempt, row.attempt)))
    .orderBy(asc(part), asc(chunk));
  // Last: every result has a curve, so a deletion before this statement shows here.
  if (stored.length === 0) return null;
  const chunks = await mapSome(stored, (one) => fetchStored(db, id, one));
  return { result: row.result, sparkline: row.sparkline ?? [], plots: row.plots ?? [], log, chunks };
}

/** A chunk with its bytes, to be written again: an object may go with the rows that name it. */
async function fetchStored(
  db: Db,
  id: string,
  { object, objectPlace, candles, ...chunk }: StoredChunk & Omit<ResultChunk, "candles" | "place"> & {
    readonly candles: SharedCandles & BytesPlace | null;
  },
): Promise<ResultChunk> {
  const { data, tags, candles: shared } = await fetchChunk(db, `result of the backtest ${id}`, {
    object,
    objectPlace,
    candles,
    data: chunk.data,
    tags: chunk.tags,
  });
  return { ...chunk, data, tags, candles: candles && shared && { ...candles, data: shared } };
}
