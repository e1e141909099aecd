import type { TakenJob } from "./jobs.ts";

// A run keeps its place for so long, whoever waits.
const SHARE_MS = 1000;

/** A job that a loop holds. */
export interface HeldJob {
  readonly job: TakenJob;
  readonly stop: AbortController;
  readonly begunMs: number;
  /** It is in the place for other users. */
  readonly isExtra: boolean;
}

/**
 * Finds the job that yields its place to another user's: of the users who hold the most places, the oldest job that has not yielded
 * before. A job thus yields once, and then keeps its next place.
 *
 * @param places How many jobs may be kept from yielding: beyond them the oldest yields again.
 * @returns Null if none can yield; `waitMs`: until its share has passed.
 */
export function findYielder(
  active: readonly HeldJob[],
  places: number,
): { readonly held: HeldJob; readonly waitMs: number } | null {
  const settled = new Set(active.filter(({ job }) => job.isSettled).slice(0, places));
  const countOf = ({ job }: HeldJob) => active.filter((other) => other.job.ownerId === job.ownerId).length;
  const [held] = active.filter((one) => !settled.has(one))
    .toSorted((a, b) => countOf(b) - countOf(a) || a.begunMs - b.begunMs);
  return held === undefined ? null : { held, waitMs: held.begunMs + SHARE_MS - performance.now() };
}
