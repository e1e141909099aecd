import type { Db } from "./client.ts";
import type { RunKindName } from "./run_kinds.ts";
import type { OwnedKey } from "./runs.ts";
import type { EndpointKey } from "./served_requests.ts";

/**
 * The queue of the workers, for those who write records. Jobs are written in the caller's transaction, so that record and job exist
 * together or not at all.
 */
export interface RunQueue {
  /** Writes a run's job; lower queue positions are taken first. */
  enqueue(tx: Db, kind: RunKindName, run: OwnedKey, queuePosition: number): Promise<void>;
  /** The queue position of a user's next run of a kind that does not count them itself. @param tx Holds the user's lock. */
  nextPosition(tx: Db, kind: RunKindName, ownerId: string): Promise<number>;
  /** Removes the jobs of a run that the transaction cancels or deletes; its workers stop within about a second. */
  dequeue(tx: Db, kind: RunKindName, run: OwnedKey): Promise<void>;
  /**
   * Calls back after each change of a run's record by any process, so that the caller reads it again.
   *
   * @param onEnd Called after the last change by workers that say so.
   * @returns A function that ends the watch.
   */
  watch(kind: RunKindName, id: string, onChange: () => void, onEnd?: () => void): Promise<() => void>;
  /** Calls back when a backtest of a user was submitted, begun, labelled, has ended or is deleted. @returns A function that ends the watch. */
  watchList(ownerId: string, onChange: () => void): Promise<() => void>;
  enqueueIngestion(tx: Db, runId: string): Promise<void>;
  /** Writes a module check's job; lower queue positions are taken first. */
  enqueueModuleCheck(tx: Db, checkId: string, ownerId: string, queuePosition: number): Promise<void>;
  /** Calls back once a worker has stored its verdict on a module. @returns A function that ends the watch. */
  watchModuleCheck(checkId: string, onVerdict: () => void): Promise<() => void>;
  /** Calls back when programs that answer to a name may have a new request. @returns A function that ends the watch. */
  watchEndpoint(endpoint: EndpointKey, onRequest: () => void): Promise<() => void>;
  /** Notifies the run that waits for an answer. */
  notifyAnswer(tx: Db, requestId: string): Promise<void>;
  /** Updates the queue's schedules to those of the instruments. */
  syncSchedules(): Promise<void>;
  /** Tells if any process takes backtests. @throws When the queue cannot be reached. */
  check(): Promise<{ readonly hasWorker: boolean }>;
}
