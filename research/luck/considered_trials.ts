import type { Measure } from "./measures.ts";
import { blockDaysOf } from "./resamples.ts";

/** Most trials whose returns are compared with each other. */
export const TRIALS_CONSIDERED_MAX = 1_000;
/** With the k + 1 of n + 1 that a share counts, 5 % is a whole number of resamples. */
const RESAMPLES = { sums: 499, path: 249 } as const;
/** Steps of a check, of some nanoseconds each: a day of a trial in a resample, or a stretch of them where sums do. */
const STEPS_MAX = 1e8;

/** How many resamples a check by a measure makes. */
export function resamplesOf({ kind }: Pick<Measure, "kind">): number {
  return RESAMPLES[kind];
}

/** Most trials that are compared, by their days: a check takes at most about half a second. */
export function trialsConsidered(measure: Pick<Measure, "kind">, days: number): number {
  const steps = measure.kind === "path" ? days : days / blockDaysOf(days);
  return Math.max(
    2,
    Math.min(TRIALS_CONSIDERED_MAX, Math.floor(STEPS_MAX / resamplesOf(measure) / Math.max(1, steps))),
  );
}

/**
 * Chooses the trials whose returns are compared: all, or as many as there may be. Of these, half are the best by the objective, and
 * the others are taken evenly from first to last.
 *
 * @param objectives Of each trial; NaN where it is undefined.
 * @returns Numbers in ascending order, from 0.
 */
export function chooseConsidered(objectives: readonly number[], direction: "max" | "min", most: number): number[] {
  if (objectives.length <= most) return Array.from(objectives.keys());
  const score = (i: number) => {
    const value = objectives[i]!;
    return Number.isNaN(value) ? -Infinity : direction === "max" ? value : -value;
  };
  // A difference of infinities is no number.
  const compare = (a: number, b: number) => a === b ? 0 : a < b ? -1 : 1;
  const ranked = Array.from(objectives.keys()).sort((a, b) => compare(score(b), score(a)) || a - b);
  const half = Math.ceil(most / 2);
  const others = ranked.slice(half).sort((a, b) => a - b);
  const evenly = Array.from({ length: most - half }, (_, i) => others[Math.floor(i * others.length / (most - half))]!);
  return [...ranked.slice(0, half), ...evenly].sort((a, b) => a - b);
}
