import type { UserContext } from "../common/trpc.ts";
import { followRecord } from "../runs/follow_record.ts";
import { isClosing } from "../runs/runs.ts";

// A program may submit hundreds of runs a second, and each answer has a client read its list again.
const PACE_MS = 1_000;

/**
 * Counts the changes of a user's list: once at first, so that the client reads what it has missed, and at most once a second after
 * changes by any process.
 *
 * @throws AppError UNAVAILABLE when the service closes.
 */
export async function* followList({ queue, closing, user }: UserContext, signal = new AbortController().signal) {
  let changes = 0;
  yield* followRecord({
    watch: (onChange) => queue.watchList(user.id, onChange),
    read: () => Promise.resolve({ changes: changes++ }),
    hasEnded: () => false,
    paceMs: PACE_MS,
  }, AbortSignal.any([signal, closing]));
  if (!signal.aborted) throw isClosing("the list");
}
