/** How much of an optimization's best trial is luck: reads the trials, and has a thread measure it. */
import type { Db } from "../../db/client.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readTrialChunks, readTrialReturns } from "../../db/trial_chunks.ts";
import { buffersOf } from "../../engine/buffer_pool.ts";
import { chooseConsidered, type Overfitting, type Trials } from "../../research/overfitting.ts";
import { plateau } from "../../research/plateau.ts";
import { neighboursOf } from "../../research/space.ts";
import { NOT_BEGUN, type Outcome } from "../outcome.ts";

/**
 * Reads the trials that are considered, at most a thousand.
 *
 * @returns Null where no trial has the objective.
 */
export async function readTrials(
  db: Db,
  record: Optimization,
  rates: Pick<Trials, "periodsPerYear" | "riskFreeRate">,
): Promise<Trials | null> {
  const { id, space, objective, direction, best: [best] } = record;
  if (best === undefined) return null;
  const near = new Set([best.point, ...neighboursOf(space, best.point)]);
  const objectives = new Map<number, number>();
  for await (const { count, columns } of readTrialChunks(db, id)) {
    for (let row = 0; row < count; row++) {
      const [point, value] = [columns.point![row]!, columns[objective]?.[row] ?? NaN];
      if (near.has(point) && !Number.isNaN(value)) objectives.set(point, value);
    }
  }
  const { chosen, bestKept } = await choose(db, record, best.number - 1);
  const columns: Float64Array[] = [];
  let bestColumn = 0;
  for await (const { kept, returns } of readTrialReturns(db, id)) {
    if (kept === bestKept) bestColumn = columns.length;
    if (chosen.has(kept)) columns.push(returns.slice());
  }
  const days = columns.reduce((most, { length }) => Math.max(most, length), 0);
  const returns = columns.map((column) => padded(column, days));
  const trials = record.trials - record.trialsFailed;
  const flat = plateau(space, best.point, (point) => objectives.get(point), direction);
  return { trials, returns, best: bestColumn, plateau: flat, ...rates };
}

/** Chooses among the trials whose daily returns are kept, by their places among them. */
async function choose(db: Db, { id }: Optimization, bestPlace: number) {
  let [count, bestKept] = [0, 0];
  for await (const { kept, place } of readTrialReturns(db, id)) {
    count = kept + 1;
    if (place === bestPlace) bestKept = kept;
  }
  return { bestKept, chosen: new Set(chooseConsidered(count, bestKept)) };
}

function padded(column: Float64Array, length: number): Float64Array {
  const all = new Float64Array(length);
  all.set(column);
  return all;
}

/** Measures in a thread of its own, which has no permissions and ends with it. Never rejects. */
export async function measureLuck(
  trials: Trials,
  signal: AbortSignal,
): Promise<Outcome<{ readonly overfitting: Overfitting }>> {
  if (signal.aborted) return NOT_BEGUN;
  const ended = Promise.withResolvers<Outcome<{ readonly overfitting: Overfitting }>>();
  const worker = new Worker(new URL("../sandbox/builtin_luck.ts", import.meta.url), {
    type: "module",
    name: "hindcast-luck",
    deno: { permissions: "none" },
  });
  worker.onmessage = ({ data }: MessageEvent<Outcome<{ readonly overfitting: Overfitting }>>) => ended.resolve(data);
  worker.onerror = (event) => {
    // An unhandled error would end this whole process.
    event.preventDefault();
    ended.resolve({ type: "broken", message: event.message });
  };
  worker.onmessageerror = () => ended.resolve({ type: "broken", message: "its answer could not be read" });
  const stop = () => ended.resolve(NOT_BEGUN);
  signal.addEventListener("abort", stop);
  try {
    worker.postMessage(trials, [...buffersOf(trials)]);
    return await ended.promise;
  } finally {
    signal.removeEventListener("abort", stop);
    worker.terminate();
  }
}
