import { getLogger } from "@logtape/logtape";
import { setTimeout as pause } from "node:timers/promises";
import { findStoreError, isDatabaseFault } from "../../db/faults.ts";

const log = getLogger(["hindcast", "queue"]);

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 4000;

/**
 * Retries work while the database, or the bucket beside it, is unavailable: at least once, and until the signal is aborted.
 *
 * @param onWait Called before each pause.
 * @throws The work's error when it is not a database fault, or the signal is aborted.
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
      const reason = reasonOf(error);
      if (findStoreError(error) === undefined) log.warn("Waiting for the database: {reason}", { reason });
      else log.warn("Waiting for the bucket: {reason}", { reason });
    }
    onWait();
    // An abort ends the pause, and one last attempt follows.
    await pause(pauseMs, undefined, { signal }).catch(() => {});
  }
}

// The outer errors repeat the statement; the innermost has the reason.
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  if (error instanceof Error) return error.cause === undefined ? error.message : reasonOf(error.cause);
  return String(error);
}
