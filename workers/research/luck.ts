/** Reads the trials from which the luck of an optimization's best one is measured. */
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readTrialMetric, readTrialReturns } from "../../db/trial_chunks.ts";
import { chooseConsidered, type Trials, TRIALS_CONSIDERED_MAX } from "../../research/overfitting.ts";
import { plateau } from "../../research/plateau.ts";
import { neighboursOf } from "../../research/space.ts";

/**
 * Reads the trials that are considered, at most a thousand, into shared memory.
 *
 * @returns Null where no trial has the objective, and where the signal was aborted.
 */
export async function readTrials(
  db: Db,
  record: Optimization,
  rates: Pick<Trials, "periodsPerYear" | "riskFreeRate">,
  signal: AbortSignal,
): Promise<Trials | null> {
  const { id, space, direction, best: [best] } = record;
  if (best === undefined) return null;
  const objectives = await readNear(db, record, new Set([best.point, ...neighboursOf(space, best.point)]), signal);
  const chosen = await choose(db, record, best.number - 1, signal);
  const columns: Float64Array[] = [];
  let bestColumn = 0;
  for await (const { kept, place, returns } of readTrialReturns(db, id)) {
    if (signal.aborted) return null;
    if (chosen !== null && !chosen.has(kept)) continue;
    if (place === best.number - 1) bestColumn = columns.length;
    columns.push(returns.slice());
  }
  const trials = record.trials - record.trialsFailed;
  const flat = plateau(space, best.point, (point) => objectives.get(point), direction);
  return { trials, returns: share(columns), best: bestColumn, plateau: flat, ...rates };
}

/** The objectives of some points, by their numbers. */
async function readNear(
  db: Db,
  { id, objective }: Optimization,
  near: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, number>> {
  const objectives = new Map<number, number>();
  for await (const { count, columns } of readTrialMetric(db, id, objective)) {
    if (signal.aborted) break;
    for (let row = 0; row < count; row++) {
      const [point, value] = [columns.point![row]!, columns[objective]?.[row] ?? NaN];
      if (near.has(point) && !Number.isNaN(value)) objectives.set(point, value);
    }
  }
  return objectives;
}

/** Chooses among the trials whose daily returns are kept, by their places among them; null: all of them. */
async function choose(
  db: Db,
  { id, trials }: Optimization,
  bestPlace: number,
  signal: AbortSignal,
): Promise<ReadonlySet<number> | null> {
  if (trials <= TRIALS_CONSIDERED_MAX) return null;
  let [count, bestKept] = [0, 0];
  for await (const { columns: { place, days } } of readTrialMetric(db, id, null)) {
    if (signal.aborted) break;
    for (let row = 0; row < place!.length; row++) {
      if (days![row] === 0) continue;
      if (place![row] === bestPlace) bestKept = count;
      count++;
    }
  }
  return new Set(chooseConsidered(count, bestKept));
}

/** Columns in memory that no thread has to copy, as long as the longest: 0 behind their ends. */
function share(columns: readonly Float64Array[]): Float64Array[] {
  const days = columns.reduce((most, { length }) => Math.max(most, length), 0);
  const all = new Float64Array(new SharedArrayBuffer(columns.length * days * Float64Array.BYTES_PER_ELEMENT));
  return columns.map((column, i) => {
    const own = all.subarray(i * days, (i + 1) * days);
    own.set(column);
    return own;
  });
}
