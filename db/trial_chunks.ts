/** The trials of optimizations in the database, a chunk a slice (see codec/trial_table.ts). */
import { and, asc, eq, gt, isNotNull, isNull, sql } from "drizzle-orm";
import { decodeColumns } from "./codec/columns.ts";
import { type EncodedTrials, NONE, type TrialNotes } from "./codec/trial_table.ts";
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

/** A chunk of trials that was read back. */
export interface TrialRows {
  readonly count: number;
  /** `place`, `point`, `days`, `error`, `undefined` and each metric, a row a trial; metrics without a value are NaN. */
  readonly columns: Readonly<Record<string, Float64Array>>;
  readonly notes: TrialNotes;
}

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
      window === null ? isNull(trialChunks.window) : eq(trialChunks.window, window),
    )).orderBy(asc(first)).limit(1);
    if (row === undefined) return;
    after = row.first;
    yield { count: row.trials, columns: decodeColumns(row.data), notes: row.notes };
  }
}

/** A trial whose daily returns are kept. */
export interface TrialReturns {
  /** Its place among such trials, from 0. */
  readonly kept: number;
  readonly place: number;
  /** The number of its point in the space. */
  readonly point: number;
  readonly returns: Float64Array;
}

/** Reads the daily returns that an optimization kept, trial by trial in the order of their places. */
export async function* readTrialReturns(db: Db, optimizationId: string): AsyncGenerator<TrialReturns> {
  const { first, data, returns } = trialChunks;
  let [after, kept] = [-1, 0];
  for (;;) {
    const [row] = await db.select({ first, data, returns }).from(trialChunks).where(and(
      eq(trialChunks.optimizationId, optimizationId),
      gt(first, after),
      sql`octet_length(${returns}) > 0`,
      isNull(trialChunks.window),
    )).orderBy(asc(first)).limit(1);
    if (row === undefined) return;
    after = row.first;
    const { place, point, days } = decodeColumns(row.data);
    const all = decodeColumns(row.returns).returns!;
    let at = 0;
    for (let i = 0; i < place!.length; i++) {
      const count = days![i]!;
      if (count === 0) continue;
      yield { kept: kept++, place: place![i]!, point: point![i]!, returns: all.subarray(at, at + count) };
      at += count;
    }
  }
}

/** The daily returns of a test window. */
export interface WindowReturns {
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
    return [row.window!, { returns: decodeColumns(row.returns).returns!, dates: row.notes.dates ?? null }];
  }));
}

/** The error of a trial; null if it has none. */
export function errorOf({ columns, notes }: TrialRows, row: number): TrialNotes["errors"][number] | null {
  const at = columns.error![row]!;
  return at === NONE ? null : notes.errors[at]!;
}

/** Why metrics of a trial are null. */
export function reasonsOf({ columns, notes }: TrialRows, row: number): Readonly<Record<string, string>> {
  const at = columns.undefined![row]!;
  return at === NONE ? {} : notes.undefined[at]!;
}
