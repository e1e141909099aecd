import { and, desc, eq, inArray, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import { addSizes, measureRecord, type Size, type StoredBytes } from "./backtest_sizes.ts";
import { insertLogs } from "./backtest_logs.ts";
import {
  type AttemptKey,
  claim,
  COMPLETE,
  type CompletedRun,
  completion,
  insert,
  selectOwned,
} from "./backtest_statements.ts";
import type { Db } from "./client.ts";
import { settleTogether } from "./faults.ts";
import { queryText } from "./postgres_session.ts";
import { insertResultCandles } from "./result_candles.ts";
import { candlesOf, deleteChunks, deleteChunksOfOthers } from "./result_chunks.ts";
import { RunRecords, UNENDED } from "./runs.ts";
import { type Backtest, BACKTEST_COLUMNS } from "./stale_results.ts";
import type { SubmittedColumn } from "./run_columns.ts";
import { insertRunMembers } from "./run_members.ts";
import { backtests, type Member } from "./schema.ts";

export type { AttemptKey, Backtest, CompletedRun };

/** The columns that a submission sets; the service sets the others. */
export type NewBacktest =
  & Pick<
    typeof backtests.$inferInsert,
    SubmittedColumn | "queuePosition" | "changedSettings" | "tags" | "notes" | "star" | "fresh"
  >
  & {
    /** Of the universe that `parameters` names: a run keeps them, whatever becomes of the universe. */
    readonly members?: readonly Member[] | undefined;
  };

/** Writes a queued backtest, in one round trip. */
export async function insertBacktest(tx: Db, values: NewBacktest, id = uuidv7()): Promise<Backtest> {
  const sizeBytes = measureRecord(values);
  const { members, ...columns } = values;
  const [[row]] = await Promise.all([
    insert(tx, { ...columns, ...completeColumns(columns), id, sizeBytes }),
    addSizes(tx, [{ ownerId: values.ownerId, sizeBytes }]),
    members && insertRunMembers(tx, id, members),
  ]);
  if (row === undefined) throw new Error(`Cannot insert the backtest of ${values.symbol}: no row came back`);
  return row;
}

/** The optional columns of a submission, with their defaults. */
function completeColumns(values: NewBacktest) {
  const { strategySlug = null, strategyVersion = null, runtime = null, queuePosition = 0, changedSettings = null } =
    values;
  const { name = null, tags = [], notes = null, star = false, fresh = false } = values;
  const { idempotencyKey = null, requestSha256 = null } = values;
  const own = { name, tags, notes, star, fresh };
  return {
    strategySlug,
    strategyVersion,
    runtime,
    queuePosition,
    changedSettings,
    ...own,
    idempotencyKey,
    requestSha256,
  };
}

/** The records of backtests. Their list has orders and filters of its own, see backtest_lists.ts. */
export const backtestRecords = new RunRecords<Backtest>("backtest", {
  select: (db, where, limit) =>
    db.select(BACKTEST_COLUMNS).from(backtests).where(where).orderBy(desc(backtests.id)).limit(limit),
  async get(db, key) {
    const [row] = await selectOwned(db, { ...key });
    return row ?? null;
  },
  // The chunks of a large result are written ahead of its end.
  discardParts: deleteChunks,
});

/** A record that a worker has claimed. */
export type ClaimedBacktest = Backtest & StoredBytes;

/**
 * Begins runs: each record becomes `running` and its `attempts` one more, which ends every earlier worker's hold on it. Followers of the
 * records are notified.
 *
 * @param bytesMax The storage quota of owners without their own.
 * @returns The records in no order, without those that have ended, were cancelled or are gone.
 */
export async function claimBacktests(
  db: Db,
  ids: readonly string[],
  bytesMax = Number.MAX_SAFE_INTEGER,
): Promise<ClaimedBacktest[]> {
  return await claim(db, { ids, bytesMax: Math.min(bytesMax, Number.MAX_SAFE_INTEGER) });
}

/** How far a run is. */
interface Progress {
  /** A fraction of the candles, 0 to 1. */
  readonly progress: number;
  readonly partialEquity: Backtest["partialEquity"];
}

/** Stores a run's progress. @returns True if the run still holds the record; false when it was cancelled or claimed by another. */
export async function setProgress(db: Db, run: AttemptKey & Progress): Promise<boolean> {
  const { progress, partialEquity } = run;
  const rows = await db.update(backtests).set({ progress, partialEquity }).where(held(run)).returning({
    id: backtests.id,
  });
  return rows.length > 0;
}

export interface StoreOptions {
  /** See insertChunks(). */
  readonly storedCandles?: ReadonlySet<string>;
  /** Bytes of other records that the caller's transaction has changed. */
  readonly moreSizes?: readonly Size[];
}

/**
 * Completes runs: writes records, trades, equity and orders in the caller's transaction, which changes no other record afterwards, and
 * notifies followers of the records. All statements are sent before it returns.
 *
 * @returns The ids of the stored runs; the others no longer hold their records, and nothing of them is stored.
 */
export async function storeResults(
  tx: Db,
  runs: readonly CompletedRun[],
  { storedCandles = new Set(), moreSizes = [] }: StoreOptions = {},
): Promise<ReadonlySet<string>> {
  if (runs.length === 0) {
    await addSizes(tx, moreSizes);
    return new Set();
  }
  const written = runs.flatMap(({ chunks, areChunksWritten = false }) => areChunksWritten ? [] : chunks);
  const candles = insertResultCandles(tx, candlesOf(written, storedCandles));
  const completed = queryText(tx, COMPLETE, completion(runs, moreSizes));
  await settleTogether([
    candles,
    completed,
    deleteChunksOfOthers(tx, runs),
    insertLogs(tx, runs.map(({ id, attempt, log = [] }) => ({ id, attempt, lines: log }))),
  ]);
  return new Set((await completed).map((row) => Object(row).id));
}

/** Gives a run back unfinished: the record is `queued` again for the next worker. @returns True if the run still held the record. */
export async function releaseBacktest(tx: Db, run: AttemptKey): Promise<boolean> {
  const rows = await tx.update(backtests)
    .set({ status: "queued", progress: 0, partialEquity: null, startedAt: null })
    .where(held(run))
    .returning({ id: backtests.id });
  return rows.length > 0;
}

/** Counts all users' queued and running records, and measures how long the oldest queued one has waited. */
export async function measureUnended(
  db: Db,
): Promise<{ readonly queued: number; readonly running: number; readonly oldestSeconds: number }> {
  const queued = sql`filter (where ${backtests.status} = 'queued')`;
  const [row] = await db.select({
    queued: sql`count(*) ${queued}`.mapWith(Number),
    running: sql`count(*) filter (where ${backtests.status} = 'running')`.mapWith(Number),
    oldestSeconds: sql`coalesce(extract(epoch from now() - min(${backtests.createdAt}) ${queued}), 0)`.mapWith(Number),
  }).from(backtests).where(inArray(backtests.status, UNENDED));
  return row ?? { queued: 0, running: 0, oldestSeconds: 0 };
}

/** Finds the record while this attempt holds it. */
export function held(run: AttemptKey) {
  return and(eq(backtests.id, run.id), eq(backtests.attempts, run.attempt), eq(backtests.status, "running"));
}
