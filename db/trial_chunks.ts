/** The trials of optimizations in the database, a chunk a slice (see codec/trial_table.ts). */
import { and, asc, eq, gt, isNotNull, isNull, type SQL, sql } from "drizzle-orm";
import { decodeColumns } from "./codec/columns.ts";
import { decodeTrials, type StoredTrials, type TrialColumns, type TrialRows } from "./codec/trial_rows.ts";
import { type EncodedTrials, TRIAL_FRAME } from "./codec/trial_table.ts";
import { readRecord, requireColumn } from "./codec/unreadable.ts";
import type { Db } from "./database.ts";
import { trialChunks } from "./schema.ts";

// A chunk's row with its place in the index, without what is measured of it; as found on PostgreSQL.
const CHUNK_BYTES = 150;

/** The trials of a slice with their place in the database. */
export type TrialChunk = Pick<EncodedTrials, "trials" | "data" | "notes" | "returns"> & {
  readonly optimizationId: string;
  readonly first: number;
  readonly window: number | null;
  /** Points of the slice, with those that are no trials. */
  readonly pointsCount: number;
  readonly durationMs: number;
};

/** Stores the trials of a slice, once. @returns False where they are stored already. */
export async function insertTrialChunk(
  tx: Db,
  { optimizationId, first, window, pointsCount: points, trials, data, notes, returns, durationMs }: TrialChunk,
): Promise<boolean> {
  const rows = await tx.insert(trialChunks)
    .values({ optimizationId, first, window, points, trials, data, notes, returns, durationMs })
    .onConflictDoNothing().returning({ first: trialChunks.first });
  return rows.length > 0;
}

/** About how many bytes a chunk takes. */
export function measureTrialChunk({ data, returns, notes }: Pick<TrialChunk, "data" | "returns" | "notes">): number {
  return CHUNK_BYTES + data.byteLength + returns.byteLength + JSON.stringify(notes).length;
}

/**
 * Reads the trials of an optimization, a chunk at a time in the order of their places. Chunks that are stored meanwhile may be among them.
 *
 * @param part `from`: the first place that is wanted; whole chunks are read. `window`: that of a guided search, whose trainings are kept.
 */
export async function* readTrialChunks(
  db: Db,
  optimizationId: string,
  { from = 0, window = null }: { readonly from?: number; readonly window?: number | null } = {},
): AsyncGenerator<TrialRows> {
  const { first, points, trials, data, notes } = trialChunks;
  let after = -1;
  for (;;) {
    const [row] = await db.select({ first, trials, data, notes }).from(trialChunks).where(and(
      eq(trialChunks.optimizationId, optimizationId),
      gt(first, after),
      gt(sql`${first} + ${points}`, from),
      gt(trials, 0),
      ofWindow(window),
    )).orderBy(asc(first)).limit(1);
    if (row === undefined) return;
    after = row.first;
    yield readTrials(optimizationId, () => decodeTrials(row));
  }
}

/**
 * The first place of the chunk that holds a place, or of the next one with trials; undefined where there is none.
 *
 * @param after The chunk is behind this one.
 */
export async function findTrialChunk(
  db: Db,
  optimizationId: string,
  { from, after }: { readonly from: number; readonly after: number },
): Promise<number | undefined> {
  const { first, points, trials } = trialChunks;
  const [row] = await db.select({ first }).from(trialChunks).where(and(
    eq(trialChunks.optimizationId, optimizationId),
    gt(first, after),
    gt(sql`${first} + ${points}`, from),
    gt(trials, 0),
    ofWindow(null),
  )).orderBy(asc(first)).limit(1);
  return row?.first;
}

/** A chunk as it is stored, by its first place; undefined once it is deleted. */
export async function readStoredTrials(
  db: Db,
  optimizationId: string,
  at: number,
): Promise<StoredTrials | undefined> {
  const { first, trials, data, notes } = trialChunks;
  const [row] = await db.select({ first, trials, data, notes }).from(trialChunks)
    .where(and(eq(trialChunks.optimizationId, optimizationId), eq(first, at), ofWindow(null)));
  return row;
}

/**
 * Like readTrialChunks(), with one metric or none: the other columns of a chunk are not even read. A chunk from before the metric
 * existed lacks it.
 */
export async function* readTrialMetric(
  db: Db,
  optimizationId: string,
  metric: string | null,
  window: number | null = null,
): AsyncGenerator<TrialColumns> {
  const { first, trials } = trialChunks;
  const rows = readAhead(async (after) => {
    const [row] = await db.select({ first, trials, own: ownFrame(), metric: frameOf(metric ?? "") }).from(trialChunks)
      .where(and(
        eq(trialChunks.optimizationId, optimizationId),
        gt(first, after),
        gt(trials, 0),
        ofWindow(window),
      )).orderBy(asc(first)).limit(1);
    return row;
  });
  for await (const row of rows) {
    yield readTrials(optimizationId, () => {
      const columns = { ...decodeColumns(row.own), ...(row.metric === null ? {} : decodeColumns(row.metric)) };
      for (const name of ["place", "point"]) requireColumn(columns, name);
      return { first: row.first, count: row.trials, columns };
    });
  }
}

/**
 * Chunks in the order of their places: the next one is on its way while the caller decodes one.
 *
 * @param read Reads the first one behind a place.
 */
async function* readAhead<Row extends { readonly first: number }>(
  read: (after: number) => Promise<Row | undefined>,
): AsyncGenerator<Row> {
  let next = read(-1);
  try {
    for (let row = await next; row !== undefined; row = await next) {
      next = read(row.first);
      // It may fail while the caller is busy with this one; the next turn throws that.
      next.catch(() => {});
      yield row;
    }
  } finally {
    // A caller that leaves early does not leave a query behind.
    await next.catch(() => {});
  }
}

function readTrials<Value>(optimizationId: string, read: () => Value): Value {
  return readRecord(trialsName(optimizationId), read);
}

/** An optimization's trials, as readRecord() names them. */
export function trialsName(optimizationId: string): string {
  return `trials of the optimization ${optimizationId}`;
}

function ofWindow(window: number | null): SQL {
  return window === null ? isNull(trialChunks.window) : eq(trialChunks.window, window);
}

/** The bytes of a frame of a chunk; null where it has none of that name. */
function frameOf(name: string): SQL<Uint8Array | null> {
  const { data, notes } = trialChunks;
  const at = sql`${notes} -> 'frames' -> ${name}::text`;
  return sql`substring(${data} from (${at} ->> 0)::integer + 1 for (${at} ->> 1)::integer)`.mapWith(data);
}

/** The bytes of TRIAL_FRAME; of all columns where a chunk has no frames. */
function ownFrame(): SQL<Uint8Array> {
  const { data } = trialChunks;
  return sql`coalesce(${frameOf(TRIAL_FRAME)}, ${data})`.mapWith(data);
}

/** A trial whose daily returns are kept. */
interface TrialReturns {
  /** The trial's place among those with returns, from 0. */
  readonly kept: number;
  readonly place: number;
  /** The number of its point in the space. */
  readonly point: number;
  readonly returns: Float64Array;
}

/** Reads the daily returns that an optimization kept, trial by trial in the order of their places. */
export async function* readTrialReturns(db: Db, optimizationId: string): AsyncGenerator<TrialReturns> {
  const { first, returns } = trialChunks;
  const rows = readAhead(async (after) => {
    const [row] = await db.select({ first, own: ownFrame(), returns }).from(trialChunks).where(and(
      eq(trialChunks.optimizationId, optimizationId),
      gt(first, after),
      sql`octet_length(${returns}) > 0`,
      isNull(trialChunks.window),
    )).orderBy(asc(first)).limit(1);
    return row;
  });
  let kept = 0;
  for await (const row of rows) {
    const { place, point, days, all } = readTrials(optimizationId, () => {
      const own = decodeColumns(row.own);
      const column = (name: string) => requireColumn(own, name);
      const all = requireColumn(decodeColumns(row.returns), "returns");
      return { place: column("place"), point: column("point"), days: column("days"), all };
    });
    let at = 0;
    for (let i = 0; i < place.length; i++) {
      const count = days[i]!;
      if (count === 0) continue;
      yield { kept: kept++, place: place[i]!, point: point[i]!, returns: all.subarray(at, at + count) };
      at += count;
    }
  }
}

/** The daily returns of a test window. */
interface WindowReturns {
  readonly returns: Float64Array;
  /** See TrialNotes; null in older chunks. */
  readonly dates: readonly number[] | null;
}

/** Reads the daily returns of the test windows that have traded, by window. */
export async function readWindowReturns(db: Db, optimizationId: string): Promise<Map<number, WindowReturns>> {
  const { window, returns, notes } = trialChunks;
  const rows = await db.select({ window, returns, notes }).from(trialChunks).where(and(
    eq(trialChunks.optimizationId, optimizationId),
    isNotNull(window),
    sql`octet_length(${returns}) > 0`,
  ));
  return new Map(rows.map((row) => {
    const returns = readTrials(optimizationId, () => requireColumn(decodeColumns(row.returns), "returns"));
    return [row.window!, { returns, dates: row.notes.dates ?? null }];
  }));
}
