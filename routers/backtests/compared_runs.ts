import { LRUCache } from "lru-cache";
import { backtestRecords } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { findUnreadable } from "../../db/codec/unreadable.ts";
import { listRunTries, type TriedMarket } from "../../db/run_trials.ts";
import { DAY_MS } from "../../market/timeframes.ts";
import { joinDays } from "../../research/joined_days.ts";
import type { Context } from "../common/trpc.ts";
import { readReturns } from "./series.ts";

const RUNS_MAX = 500;
/** Most candles that are read to know their days. */
const CANDLES_MAX = 2_000_000;
/** Most returns that are compared, in about a quarter of a second: a run has one for each day of all of them. */
const RETURNS_MAX = 1_000_000;
/** Most returns of runs that are kept for the next request, of 12 bytes each. */
const KEPT_RETURNS_MAX = 2_000_000;
const KEPT_ANSWERS_MAX = 200;

interface RunDays {
  readonly returns: Float64Array;
  /** In days since 1970, one a return. */
  readonly days: Int32Array;
  readonly candles: number;
}

/** Runs whose days were compared. */
interface ComparedRuns {
  readonly count: number;
  /** The number of independent ones that they amount to. */
  readonly independent: number;
}

/** Days and answers that are kept for a database: a run that has ended does not change. */
interface KnownRuns {
  readonly days: LRUCache<string, RunDays>;
  readonly answers: LRUCache<string, Promise<ComparedRuns>>;
}

const knownRuns = new WeakMap<Db, KnownRuns>();

function knownOf(db: Db): KnownRuns {
  const known = knownRuns.get(db) ?? {
    days: new LRUCache({ maxSize: KEPT_RETURNS_MAX, sizeCalculation: ({ days }) => Math.max(1, days.length) }),
    answers: new LRUCache({ max: KEPT_ANSWERS_MAX }),
  };
  knownRuns.set(db, known);
  return known;
}

type Reading = Pick<Context, "db" | "rowsWorker" | "userTurns">;

/**
 * Compares the daily returns of the tries around a run that are backtests, as far as they are stored and not too many.
 *
 * @param without The run key of one that does not take part.
 */
export async function compareRuns(
  ctx: Reading,
  row: TriedMarket,
  without: string | null,
): Promise<ComparedRuns> {
  const listed = await listRunTries(ctx.db, row, RUNS_MAX);
  const tries = new Map(listed.filter(({ runKey }) => runKey !== without).map(({ runKey, id }) => [runKey, id]));
  const ids = [...tries.values()];
  const { answers } = knownOf(ctx.db);
  const key = ids.join();
  const known = answers.get(key);
  if (known !== undefined) return await known;
  // In a turn of the user's, as charts are: one user with many runs does not slow everybody's lists.
  const answer = ctx.userTurns.runLater(row.ownerId, () => compareDays(ctx, row.ownerId, ids));
  answers.set(key, answer);
  return await answer.catch((error) => {
    answers.delete(key);
    throw error;
  });
}

async function compareDays(ctx: Reading, ownerId: string, ids: readonly string[]): Promise<ComparedRuns> {
  const runs: RunDays[] = [];
  const all = new Set<number>();
  let candles = 0;
  for (const id of ids) {
    const run = await readRunDays(ctx, { id, ownerId }, CANDLES_MAX - candles);
    if (run === null) continue;
    for (const day of run.days) all.add(day);
    if ((runs.length + 1) * all.size > RETURNS_MAX) break;
    candles += run.candles;
    runs.push(run);
  }
  const { days, place } = joinDays(new Map(runs.map((run, i) => [i, run.days])));
  const returns = new Float64Array(runs.length * days.length);
  for (const [i, run] of runs.entries()) {
    place(i, run.returns, returns.subarray(i * days.length, (i + 1) * days.length));
  }
  // One run is one try.
  const independent = runs.length < 2 ? runs.length : await ctx.rowsWorker.compare(returns, runs.length);
  return { count: runs.length, independent };
}

/** The days of a run; null where it has none, is damaged or deleted, or has more candles than may be read. */
async function readRunDays(
  ctx: Reading,
  key: { readonly id: string; readonly ownerId: string },
  candlesMax: number,
): Promise<RunDays | null> {
  const { days: known } = knownOf(ctx.db);
  const kept = known.get(key.id);
  if (kept !== undefined) return kept.candles > candlesMax ? null : kept;
  try {
    const row = await backtestRecords.get(ctx.db, key);
    const candles = row?.result?.data.candles ?? Infinity;
    if (row === null || candles > candlesMax) return null;
    const { time, columns } = await readReturns(ctx, row, "daily");
    if (time.length === 0) return null;
    const days = Int32Array.from(time, (timeMs) => Math.floor(timeMs / DAY_MS));
    const run = { returns: columns.return, days, candles };
    known.set(key.id, run);
    return run;
  } catch (error) {
    // One run that cannot be read is not why another cannot be shown.
    if (findUnreadable(error) !== undefined || await backtestRecords.get(ctx.db, key) === null) return null;
    throw error;
  }
}
