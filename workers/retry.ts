import { getLogger } from "@logtape/logtape";
import { setTimeout as pause } from "node:timers/promises";
import { isDatabaseFault } from "../db/faults.ts";

const log = getLogger(["hindcast", "queue"]);

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 4000;

/**
 * Does what needs the database, again and again while that is away: at least once, and until the signal is aborted.
 *
 * @param onWait Called before each pause.
 * @throws What the work throws when it is no fault of the database, or when the signal is aborted.
 */
export async function retryOnDatabaseFault<Answer>(
  signal: AbortSignal,
  work: () => Promise<Answer>,
  onWait = () => {},
): Promise<Answer> {
  for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isDatabaseFault(error)) throw error;
      log.warn("Waiting for the database: {reason}", { reason: reasonOf(error) });
    }
    onWait();
    // Who aborts ends the pause, and gets the last attempt.
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }
}

// What wraps an error repeats the statement; what is at the bottom says what happened.
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}
