import { getLogger } from "@logtape/logtape";
import { isDatabaseFault } from "../db/faults.ts";

const log = getLogger(["hindcast", "queue"]);

const PAUSE_MS = 500;

/**
 * Does what needs the database, again and again while that is away; only until the signal is aborted, and at least once.
 *
 * @throws What the work throws when it is no fault of the database, or when the signal is aborted.
 */
export async function patiently<Answer>(signal: AbortSignal, work: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || !isDatabaseFault(error)) throw error;
      log.warn("Waiting for the database: {error}", { error });
    }
    await pauseUnlessAborted(signal);
  }
}

function pauseUnlessAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PAUSE_MS);
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(() => clearTimeout(timer));
}
