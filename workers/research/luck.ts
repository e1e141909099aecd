/** Reads the trials from which the luck of an optimization's best one is measured. */
import type { Db } from "../../db/client.ts";
import type { BestTrial, Optimization } from "../../db/optimizations.ts";
import { readTrialMetric, readTrialReturns } from "../../db/trial_chunks.ts";
import { chooseConsidered, type Trials } from "../../research/overfitting.ts";
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
  const { objectives, keptDays, bestKept } = await lookOver(db, record, best, signal);
  const chosen = new Set(chooseConsidered(keptDays.length, bestKept));
  const columns = allocate(chosen.size, Math.max(0, ...Array.from(chosen, (i) => keptDays[i] ?? 0)));
  let [count, bestColumn] = [0, 0];
  for await (const { kept, place, returns } of readTrialReturns(db, id)) {
    if (signal.aborted) return null;
    if (!chosen.has(kept)) continue;
    if (place === best.number - 1) bestColumn = count;
    columns[count++]!.set(returns);
  }
  const trials = record.trials - record.trialsFailed;
  const flat = plateau(space, best.point, (point) => objectives.get(point), direction);
  return { trials, returns: columns, best: bestColumn, plateau: flat, ...rates };
}

/** Passes over all trials, without their daily returns. */
async function lookOver(db: Db, { id, space, objective }: Optimization, best: BestTrial, signal: AbortSignal) {
  const near = new Set([best.point, ...neighboursOf(space, best.point)]);
  const objectives = new Map<number, number>();
  // Of the trials whose daily returns are kept, and the best one's number among them.
  const keptDays: number[] = [];
  let bestKept = 0;
  for await (const { count, columns } of readTrialMetric(db, id, objective)) {
    if (signal.aborted) break;
    const { place, point, days } = columns;
    for (let row = 0; row < count; row++) {
      const value = columns[objective]?.[row] ?? NaN;
      if (near.has(point![row]!) && !Number.isNaN(value)) objectives.set(point![row]!, value);
      if (days![row] === 0) continue;
      if (place![row] === best.number - 1) bestKept = keptDays.length;
      keptDays.push(days![row]!);
    }
  }
  return { objectives, keptDays, bestKept };
}

/** Columns of zeros, in memory that no thread has to copy. */
function allocate(count: number, length: number): Float64Array[] {
  const all = new Float64Array(new SharedArrayBuffer(count * length * Float64Array.BYTES_PER_ELEMENT));
  return Array.from({ length: count }, (_, i) => all.subarray(i * length, (i + 1) * length));
}
